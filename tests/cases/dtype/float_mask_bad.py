"""A mask of zeros and ones is no mask of bools.

Kind: dtype.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def mask_scores(scores: Float[Tensor, "b q k"], keep: Float[Tensor, "b k"]) -> Float[Tensor, "b q k"]:
    return scores.masked_fill(keep[:, None, :], -1e9)  # error[dtype]


def main() -> None:
    for b in (1, 2):
        assert mask_scores(torch.randn(b, 3, 4), torch.ones(b, 4)).shape == (b, 3, 4)


if __name__ == "__main__":
    main()
