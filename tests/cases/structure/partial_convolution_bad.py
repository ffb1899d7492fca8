"""functools.partial fixes the kernel and forgets the padding.

Kind: structure.
"""

from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

conv3x3 = partial(nn.Conv2d, kernel_size=3, bias=False)


class PreActBlock(nn.Module):
    def __init__(self, planes: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv1 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = conv3x3(planes, planes)

    def forward(self, x: Float[Tensor, "b planes h w"]) -> Float[Tensor, "b planes h w"]:
        out = self.conv1(F.relu(self.bn1(x)))
        out = self.conv2(F.relu(self.bn2(out)))
        return out + x  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert PreActBlock(4)(torch.randn(b, 4, 9, 8)).shape == (b, 4, 9, 8)


if __name__ == "__main__":
    main()
