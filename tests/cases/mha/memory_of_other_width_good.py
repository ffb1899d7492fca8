"""The memory has another width, the attention does not know of it.

Kind: mha.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class CaptionLayer(nn.Module):
    def __init__(self, d_model: int, d_image: int, heads: int) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, heads, kdim=d_image, vdim=d_image, batch_first=True)
        self.norm = nn.LayerNorm(d_model)

    def forward(
        self, words: Float[Tensor, "b t d_model"], regions: Float[Tensor, "b r d_image"]
    ) -> Float[Tensor, "b t d_model"]:
        out, _ = self.attn(words, regions, regions)
        return self.norm(words + out)


def main() -> None:
    for b in (2, 3):
        assert CaptionLayer(8, 6, 2)(torch.randn(b, 4, 8), torch.randn(b, 5, 6)).shape == (b, 4, 8)


if __name__ == "__main__":
    main()
