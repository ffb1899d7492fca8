"""Half of a length is computed by a true division and used as indices.

Kind: dtype.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def middle_rows(x: Float[Tensor, "b t d"], lengths: Int[Tensor, "b"]) -> Float[Tensor, "b d"]:
    rows = torch.arange(x.size(0))
    middle = lengths // 2
    return x[rows, middle]


def main() -> None:
    for b in (1, 2):
        assert middle_rows(torch.randn(b, 5, 4), torch.full((b,), 4)).shape == (b, 4)


if __name__ == "__main__":
    main()
