"""A grouped convolution whose groups do not divide the outputs.

Kind: conv.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ResNeXtBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(64, 128, 1)
        self.conv2 = nn.Conv2d(128, 100, 3, padding=1, groups=32)  # error[shape]
        self.conv3 = nn.Conv2d(100, 64, 1)

    def forward(self, x: Float[Tensor, "b 64 h w"]) -> Float[Tensor, "b 64 h w"]:
        return x + self.conv3(F.relu(self.conv2(F.relu(self.conv1(x)))))


def main() -> None:
    for b in (1, 3):
        assert ResNeXtBlock()(torch.randn(b, 64, 5, 6)).shape == (b, 64, 5, 6)


if __name__ == "__main__":
    main()
