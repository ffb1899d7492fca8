"""Queries are multiplied with keys as they are.

Kind: transpose.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, temperature: float, attn_dropout: float = 0.1) -> None:
        super().__init__()
        self.temperature = temperature
        self.dropout = nn.Dropout(attn_dropout)

    def forward(
        self, q: Float[Tensor, "b n lq d"], k: Float[Tensor, "b n lk d"], v: Float[Tensor, "b n lk d"]
    ) -> Float[Tensor, "b n lq d"]:
        attn = torch.matmul(q / self.temperature, k)  # error[shape]
        attn = self.dropout(F.softmax(attn, dim=-1))
        return torch.matmul(attn, v)


def main() -> None:
    for b in (1, 3):
        k = torch.randn(b, 2, 6, 4)
        assert ScaledDotProductAttention(2.0)(torch.randn(b, 2, 5, 4), k, k).shape == (b, 2, 5, 4)


if __name__ == "__main__":
    main()
