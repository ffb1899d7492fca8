"""The gate of a squeeze-and-excitation block loses its two axes of size one.

Kind: broadcast.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class SELayer(nn.Module):
    def __init__(self, channel: int, reduction: int = 16) -> None:
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
            nn.Linear(channel, channel // reduction, bias=False),
            nn.ReLU(inplace=True),
            nn.Linear(channel // reduction, channel, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x: Float[Tensor, "b channel h w"]) -> Float[Tensor, "b channel h w"]:
        b, c, _, _ = x.size()
        y = self.avg_pool(x).view(b, c)
        y = self.fc(y).view(b, c, 1, 1)
        return x * y.expand_as(x)


def main() -> None:
    for b in (1, 2):
        assert SELayer(32)(torch.randn(b, 32, 6, 7)).shape == (b, 32, 6, 7)


if __name__ == "__main__":
    main()
