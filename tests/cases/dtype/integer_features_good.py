"""Counts of words go into a linear layer as integers.

Kind: dtype.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class BagOfWords(nn.Module):
    def __init__(self, vocab: int, classes: int) -> None:
        super().__init__()
        self.linear = nn.Linear(vocab, classes)

    def forward(self, counts: Int[Tensor, "b vocab"]) -> Float[Tensor, "b classes"]:
        return F.log_softmax(self.linear(counts.float()), dim=1)


def main() -> None:
    for b in (1, 2):
        assert BagOfWords(5, 3)(torch.ones(b, 5, dtype=torch.long)).shape == (b, 3)


if __name__ == "__main__":
    main()
