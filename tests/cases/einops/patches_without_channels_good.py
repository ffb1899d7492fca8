"""Patches hold all channels, the projection counts one.

Kind: einops.
"""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn


class PatchEmbed(nn.Module):
    def __init__(self, patch: int, channels: int, dim: int) -> None:
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(patch * patch * channels, dim)

    def forward(self, img: Float[Tensor, "b channels h w"]) -> Float[Tensor, "b n dim"]:
        x = rearrange(img, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=self.patch, p2=self.patch)
        return self.proj(x)


def main() -> None:
    for b in (1, 3):
        assert PatchEmbed(4, 3, 6)(torch.randn(b, 3, 8, 12)).shape == (b, 6, 6)


if __name__ == "__main__":
    main()
