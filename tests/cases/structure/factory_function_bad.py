"""A factory of blocks is called with channels that do not fit.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def conv_block(in_channels, out_channels, pool=False):
    layers = [
        nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
    ]
    if pool:
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers)


class ResNet9(nn.Module):
    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.conv1 = conv_block(in_channels, 16)
        self.conv2 = conv_block(16, 64, pool=True)
        self.res1 = nn.Sequential(conv_block(32, 32), conv_block(32, 32))
        self.classifier = nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(32, num_classes))

    def forward(self, xb: Float[Tensor, "b in_channels h w"]) -> Float[Tensor, "b num_classes"]:
        out = self.conv1(xb)
        out = self.conv2(out)
        out = self.res1(out) + out  # error[shape]
        return self.classifier(out)  # cause


def main() -> None:
    for b in (2, 3):
        assert ResNet9(3, 10)(torch.randn(b, 3, 8, 8)).shape == (b, 10)


if __name__ == "__main__":
    main()
