"""The original U-Net's convolutions shrink the image, so that its skips must be cropped.

Kind: skip.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def center_crop(x, height, width):
    top = (x.shape[-2] - height) // 2
    left = (x.shape[-1] - width) // 2
    return x[..., top : top + height, left : left + width]


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3)
        self.bottom = nn.Conv2d(8, 16, 3)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x: Float[Tensor, "b 1 70 70"]) -> Float[Tensor, "b 2 64 64"]:
        skip = F.relu(self.down(x))
        y = F.relu(self.bottom(F.max_pool2d(skip, 2)))
        y = self.up(y)
        skip = center_crop(skip, y.shape[2], y.shape[3])
        y = torch.cat([skip, y], dim=1)
        return self.out(y)


def main() -> None:
    for b in (1, 2):
        assert UNet()(torch.randn(b, 1, 70, 70)).shape == (b, 2, 64, 64)


if __name__ == "__main__":
    main()
