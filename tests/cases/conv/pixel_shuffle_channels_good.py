"""PixelShuffle takes r*r channels for each output channel.

Kind: conv.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class UpsampleBlock(nn.Module):
    def __init__(self, channels: int, scale: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels * scale**2, 3, padding=1)
        self.shuffle = nn.PixelShuffle(scale)
        self.act = nn.PReLU(channels)
        self.out = nn.Conv2d(channels, 3, 9, padding=4)

    def forward(self, x: Float[Tensor, "b channels h w"]) -> Float[Tensor, "b 3 scale*h scale*w"]:
        x = self.shuffle(self.conv(x))
        return self.out(self.act(x))


def main() -> None:
    for b in (1, 2):
        assert UpsampleBlock(4, 2)(torch.randn(b, 4, 5, 6)).shape == (b, 3, 10, 12)


if __name__ == "__main__":
    main()
