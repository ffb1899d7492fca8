"""Cross-attention without batch_first takes the first axes for time.

Kind: mha.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class CrossAttention(nn.Module):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, heads)

    def forward(
        self, x: Float[Tensor, "b t d_model"], memory: Float[Tensor, "b s d_model"]
    ) -> Float[Tensor, "b t d_model"]:
        out, _ = self.attn(x, memory, memory)  # error[shape]
        return x + out


def main() -> None:
    for b in (2, 3):
        assert CrossAttention(8, 2)(torch.randn(b, 4, 8), torch.randn(b, 6, 8)).shape == (b, 4, 8)


if __name__ == "__main__":
    main()
