"""The residual branch shrinks by two pixels in each convolution.

Kind: residual.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(channels, channels, 3),
            nn.InstanceNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.InstanceNorm2d(channels),
        )

    def forward(self, x: Float[Tensor, "b channels h w"]) -> Float[Tensor, "b channels h w"]:
        return x + self.block(x)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert ResidualBlock(3)(torch.randn(b, 3, 12, 10)).shape == (b, 3, 12, 10)


if __name__ == "__main__":
    main()
