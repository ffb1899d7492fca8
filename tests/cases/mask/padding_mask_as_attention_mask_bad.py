"""A mask of padded keys is passed where a mask of pairs is wanted.

Kind: mask.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, nhead: int) -> None:
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, src: Float[Tensor, "b s d_model"], padding: Bool[Tensor, "b s"]) -> Float[Tensor, "b s d_model"]:
        attended, _ = self.self_attn(src, src, src, attn_mask=padding)  # error[shape]
        return self.norm(src + attended)


def main() -> None:
    for b in (1, 3):
        assert EncoderLayer(8, 2)(torch.randn(b, 5, 8), torch.zeros(b, 5, dtype=torch.bool)).shape == (b, 5, 8)


if __name__ == "__main__":
    main()
