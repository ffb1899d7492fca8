"""A U-Net for any size: the upsampled features are padded to those of the skip connection."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Up(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, bilinear: bool = True) -> None:
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        else:
            self.up = nn.ConvTranspose2d(in_channels // 2, in_channels // 2, kernel_size=2, stride=2)
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diff_y = x2.size()[2] - x1.size()[2]
        diff_x = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diff_x // 2, diff_x - diff_x // 2, diff_y // 2, diff_y - diff_y // 2])
        x = torch.cat([x2, x1], dim=1)
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, n_channels: int, n_classes: int, bilinear: bool = False) -> None:
        super().__init__()
        self.inc = nn.Conv2d(n_channels, 8, 3, padding=1)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1))
        factor = 2 if bilinear else 1
        self.down2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(16, 32 // 2, 3, padding=1))
        self.up1 = Up(32, 16 // 2, bilinear)
        self.up2 = Up(16, 8 * factor // factor, bilinear)
        self.outc = nn.Conv2d(8, n_classes, kernel_size=1)

    def forward(self, x: Float[Tensor, "b n_channels h w"]) -> Float[Tensor, "b n_classes h w"]:
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up1(x3, x2)
        x = self.up2(x, x1)
        return self.outc(x)


def main() -> None:
    for bilinear in (True, False):
        assert UNet(3, 2, bilinear)(torch.randn(1, 3, 13, 22)).shape == (1, 2, 13, 22)


if __name__ == "__main__":
    main()
