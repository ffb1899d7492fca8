"""An image whose sides are multiples of four goes down three levels.

Kind: skip.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class AutoEncoder(nn.Module):
    def __init__(self, c: int) -> None:
        super().__init__()
        self.inc = nn.Conv2d(3, c, 3, padding=1)
        self.down1 = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.down2 = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.down3 = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.outc = nn.Conv2d(c, 3, 1)

    def forward(self, x: Float[Tensor, "b 3 4*h 4*w"]) -> Float[Tensor, "b 3 4*h 4*w"]:
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x4 = self.down3(x3)
        y = self.up(x4) + x3  # error[shape]
        y = self.up(y) + x2
        y = self.up(y) + x1
        return self.outc(y)


def main() -> None:
    sizes = ((16, 32), (12, 20))
    for h, w in sizes:
        assert AutoEncoder(4)(torch.randn(1, 3, h, w)).shape == (1, 3, h, w)


if __name__ == "__main__":
    main()
