"""A LayerNorm of the channels is applied to channels-first features.

Kind: norm.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Downsample(nn.Module):
    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(in_dim)
        self.conv = nn.Conv2d(in_dim, out_dim, kernel_size=2, stride=2)

    def forward(self, x: Float[Tensor, "b in_dim h w"]) -> Float[Tensor, "b out_dim h//2 w//2"]:
        x = self.norm(x)  # error[shape]
        return self.conv(x)


def main() -> None:
    for b in (1, 3):
        assert Downsample(4, 6)(torch.randn(b, 4, 8, 10)).shape == (b, 6, 4, 5)


if __name__ == "__main__":
    main()
