"""Scores of half precision are masked by a number that it does not hold.

Kind: dtype.
"""

import torch
from jaxtyping import Bool, Float16
from torch import Tensor


def masked(scores: Float16[Tensor, "b q k"], hidden: Bool[Tensor, "b q k"]) -> Float16[Tensor, "b q k"]:
    return scores.masked_fill(hidden, -1e9)  # error[dtype]: -1e+09 does not fit into float16


def main() -> None:
    masked(torch.zeros(2, 3, 3, dtype=torch.float16), torch.ones(2, 3, 3, dtype=torch.bool))


if __name__ == "__main__":
    main()
