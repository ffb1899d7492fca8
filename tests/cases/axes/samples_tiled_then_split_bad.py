"""A batch is laid n times with repeat, and taken apart as if each element was repeated.

Kind: axes.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def sample(mean: Float[Tensor, "b d"], n: int) -> Tensor:
    b, d = mean.shape
    many = mean.repeat(n, 1) + 0.0
    return many.view(b, n, d)  # error[shape-axes]


def main() -> None:
    mean = torch.randn(3, 4)
    assert torch.equal(sample(mean, 5), mean[:, None].expand(3, 5, 4))


if __name__ == "__main__":
    main()
