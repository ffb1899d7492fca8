"""The table of positions is added whole, whatever the length of the sequence."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Embedder(nn.Module):
    def __init__(self, vocab: int, max_len: int, d_model: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, d_model)
        self.positions = nn.Parameter(torch.zeros(1, max_len, d_model))

    def forward(self, tokens: Int[Tensor, "batch seq"]) -> Float[Tensor, "batch seq d_model"]:
        return self.tokens(tokens) + self.positions  # error: shape


def main() -> None:
    embedder = Embedder(vocab=100, max_len=64, d_model=16)
    for seq in (64, 10):
        embedder(torch.randint(100, (2, seq)))


if __name__ == "__main__":
    main()
