"""The decoder's convolution forgets the channels of the skip connection.

Kind: skip.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def double_conv(in_ch: int, out_ch: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_ch, out_ch, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(out_ch, out_ch, 3, padding=1),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, n_class: int) -> None:
        super().__init__()
        self.dconv_down1 = double_conv(3, 8)
        self.dconv_down2 = double_conv(8, 16)
        self.maxpool = nn.MaxPool2d(2)
        self.upsample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.dconv_up1 = double_conv(16, 8)
        self.conv_last = nn.Conv2d(8, n_class, 1)

    def forward(self, x: Float[Tensor, "b 3 2*h 2*w"]) -> Float[Tensor, "b n_class 2*h 2*w"]:
        conv1 = self.dconv_down1(x)
        x = self.maxpool(conv1)
        x = self.dconv_down2(x)
        x = self.upsample(x)
        x = torch.cat([x, conv1], dim=1)
        x = self.dconv_up1(x)  # error[shape]
        return self.conv_last(x)


def main() -> None:
    for b in (1, 2):
        assert UNet(2)(torch.randn(b, 3, 8, 6)).shape == (b, 2, 8, 6)


if __name__ == "__main__":
    main()
