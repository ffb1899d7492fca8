"""The convolution was widened, its normalization was not.

Kind: norm.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def conv_bn_relu(in_ch: int, out_ch: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_ch, width * out_ch, kernel_size=3, padding=1, bias=False),
        nn.BatchNorm2d(width * out_ch),
        nn.ReLU(inplace=True),
    )


class WideStem(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_bn_relu(3, 16, width=2)

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 32 h w"]:
        return self.stem(x)


def main() -> None:
    for b in (2, 3):
        assert WideStem()(torch.randn(b, 3, 5, 6)).shape == (b, 32, 5, 6)


if __name__ == "__main__":
    main()
