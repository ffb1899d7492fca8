"""A padding mask meets attention scores: its batch is aligned with their heads."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def forward(
        self, x: Float[Tensor, "batch seq d_model"], real: Bool[Tensor, "batch seq"]
    ) -> Float[Tensor, "batch seq d_model"]:
        batch, seq, d_model = x.shape
        q, k, v = (
            part.view(batch, seq, self.n_heads, self.d_head).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        scores = scores.masked_fill(~real[:, None], float("-inf"))  # error: shape
        return (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, seq, d_model)


def main() -> None:
    Attention(d_model=32, n_heads=4)(torch.randn(3, 6, 32), torch.ones(3, 6, dtype=torch.bool))


if __name__ == "__main__":
    main()
