"""ConvNeXt's layer scale is a vector of channels and meets the last axis of channels-first features.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim: int, layer_scale: float = 1e-6) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(layer_scale * torch.ones(dim))

    def forward(self, x: Float[Tensor, "n dim h w"]) -> Float[Tensor, "n dim h w"]:
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        x = self.gamma * x
        x = x.permute(0, 3, 1, 2)
        return shortcut + x


def main() -> None:
    for n in (1, 2):
        assert ConvNeXtBlock(6)(torch.randn(n, 6, 8, 9)).shape == (n, 6, 8, 9)


if __name__ == "__main__":
    main()
