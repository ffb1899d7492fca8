"""Embedded tokens have their features last, a Conv1d wants them on dim 1.

Kind: conv.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class CharCNN(nn.Module):
    def __init__(self, n_chars: int, char_dim: int, out_dim: int) -> None:
        super().__init__()
        self.char_embed = nn.Embedding(n_chars, char_dim, padding_idx=0)
        self.conv = nn.Conv1d(char_dim, out_dim, kernel_size=3, padding=1)

    def forward(self, chars: Int[Tensor, "batch length"]) -> Float[Tensor, "batch out_dim"]:
        x = self.char_embed(chars)
        x = self.conv(x.transpose(1, 2))
        x, _ = x.max(dim=-1)
        return torch.tanh(x)


def main() -> None:
    for b in (1, 3):
        assert CharCNN(9, 4, 6)(torch.zeros(b, 7, dtype=torch.long)).shape == (b, 6)


if __name__ == "__main__":
    main()
