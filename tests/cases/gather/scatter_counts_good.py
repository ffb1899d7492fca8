"""Counts for each class are collected from one-hot rows of another rank.

Kind: gather.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def expert_load(probs: Float[Tensor, "tokens experts"], top: Int[Tensor, "tokens k"]) -> Float[Tensor, "experts"]:
    counts = torch.zeros_like(probs)
    counts = counts.scatter_add(1, top, torch.ones_like(probs))
    return counts.mean(dim=0)


def main() -> None:
    for n in (1, 5):
        assert expert_load(torch.rand(n, 4), torch.zeros(n, 2, dtype=torch.long)).shape == (4,)


if __name__ == "__main__":
    main()
