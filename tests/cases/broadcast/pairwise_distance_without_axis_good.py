"""All pairs of points are compared without an axis for the second of them.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def pairwise_sq_dist(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    diff = x[:, None, :] - y[None, :, :]
    return diff.pow(2).sum(-1)


def main() -> None:
    for n in (1, 5):
        assert pairwise_sq_dist(torch.randn(n + 1, 2), torch.randn(4, 2)).shape == (n + 1, 4)


if __name__ == "__main__":
    main()
