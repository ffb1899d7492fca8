"""A class token of batch one is put before a batch of sequences.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class VisionTransformerStem(nn.Module):
    def __init__(self, dim: int, patch_size: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, dim, kernel_size=patch_size, stride=patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))

    def forward(self, img: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n dim"]:
        x = self.proj(img).flatten(2).transpose(1, 2)
        return torch.cat((self.cls_token, x), dim=1)  # error[shape]


def main() -> None:
    for b in (1, 3):
        assert VisionTransformerStem(6, 4)(torch.randn(b, 3, 16, 12)).shape == (b, 13, 6)


if __name__ == "__main__":
    main()
