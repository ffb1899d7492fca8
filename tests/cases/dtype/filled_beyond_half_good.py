"""Scores of half precision are masked by the least number that their dtype holds, or by minus infinity.

Kind: dtype.
"""

import torch
from jaxtyping import Bool, Float, Float16
from torch import Tensor


def masked(scores: Float16[Tensor, "b q k"], hidden: Bool[Tensor, "b q k"]) -> Float16[Tensor, "b q k"]:
    return scores.masked_fill(hidden, torch.finfo(scores.dtype).min)


def masked_by_infinity(scores: Float16[Tensor, "b q k"], hidden: Bool[Tensor, "b q k"]) -> Float16[Tensor, "b q k"]:
    return scores.masked_fill(hidden, float("-inf"))


def masked_in_any_width(scores: Float[Tensor, "b q k"], hidden: Bool[Tensor, "b q k"]) -> Float[Tensor, "b q k"]:
    return scores.masked_fill(hidden, -1e9)


def main() -> None:
    hidden = torch.ones(2, 3, 3, dtype=torch.bool)
    masked(torch.zeros(2, 3, 3, dtype=torch.float16), hidden)
    masked_by_infinity(torch.zeros(2, 3, 3, dtype=torch.float16), hidden)
    masked_in_any_width(torch.zeros(2, 3, 3), hidden)


if __name__ == "__main__":
    main()
