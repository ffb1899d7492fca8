"""A GAN's discriminator halves the image three times and counts two.

Kind: linear.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Discriminator(nn.Module):
    def __init__(self, img_size: int, channels: int) -> None:
        super().__init__()

        def block(in_filters, out_filters, bn=True):
            layers = [nn.Conv2d(in_filters, out_filters, 3, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.Dropout2d(0.25)]
            if bn:
                layers.append(nn.BatchNorm2d(out_filters, 0.8))
            return layers

        self.conv_blocks = nn.Sequential(*block(channels, 16, bn=False), *block(16, 32), *block(32, 64))
        ds_size = img_size // 2**2
        self.adv_layer = nn.Sequential(nn.Linear(64 * ds_size**2, 1), nn.Sigmoid())

    def forward(self, img: Float[Tensor, "b channels img_size img_size"]) -> Float[Tensor, "b 1"]:
        out = self.conv_blocks(img)
        out = out.view(out.shape[0], -1)
        validity = self.adv_layer(out)  # error[shape]
        return validity


def main() -> None:
    for b in (2, 5):
        assert Discriminator(32, 1)(torch.randn(b, 1, 32, 32)).shape == (b, 1)


if __name__ == "__main__":
    main()
