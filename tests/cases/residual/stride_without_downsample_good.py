"""A ResNet block with a stride adds the identity at full resolution.

Kind: residual.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class BasicBlock(nn.Module):
    def __init__(self, planes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = nn.Sequential(nn.Conv2d(planes, planes, 1, stride=2, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x: Float[Tensor, "b planes h w"]) -> Float[Tensor, "b planes h2 w2"]:
        identity = x
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = self.downsample(x)
        out += identity
        return F.relu(out)


def main() -> None:
    for b in (2, 3):
        assert BasicBlock(4)(torch.randn(b, 4, 9, 12)).shape == (b, 4, 5, 6)


if __name__ == "__main__":
    main()
