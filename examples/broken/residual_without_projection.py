"""A residual block that changes the number of channels and adds its input as it is."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1)

    def forward(self, x: Float[Tensor, "batch channels h w"]) -> Float[Tensor, "batch 2*channels h w"]:
        out = self.conv2(F.relu(self.conv1(x)))
        return F.relu(out + x)  # error: shape


def main() -> None:
    Block(channels=8)(torch.randn(2, 8, 16, 16))


if __name__ == "__main__":
    main()
