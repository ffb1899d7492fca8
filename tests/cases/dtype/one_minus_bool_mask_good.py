"""A mask of bools is inverted by arithmetic.

Kind: dtype.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def masked_mean(x: Float[Tensor, "b t d"], padding: Bool[Tensor, "b t"]) -> Float[Tensor, "b d"]:
    keep = (~padding).unsqueeze(-1)
    return (x * keep).sum(dim=1) / keep.sum(dim=1)


def main() -> None:
    for b in (1, 2):
        assert masked_mean(torch.randn(b, 3, 4), torch.zeros(b, 3, dtype=torch.bool)).shape == (b, 4)


if __name__ == "__main__":
    main()
