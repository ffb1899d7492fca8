"""A dilated convolution is padded as if it were not dilated.

Kind: residual.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class DilatedResidualLayer(nn.Module):
    """A layer of MS-TCN."""

    def __init__(self, dilation: int, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv_dilated = nn.Conv1d(in_channels, out_channels, 3, padding=dilation, dilation=dilation)
        self.conv_1x1 = nn.Conv1d(out_channels, in_channels, 1)
        self.dropout = nn.Dropout()

    def forward(self, x: Float[Tensor, "b in_channels t"]) -> Float[Tensor, "b in_channels t"]:
        out = F.relu(self.conv_dilated(x))
        out = self.dropout(self.conv_1x1(out))
        return x + out


def main() -> None:
    for dilation in (2, 4):
        assert DilatedResidualLayer(dilation, 3, 5)(torch.randn(2, 3, 20)).shape == (2, 3, 20)


if __name__ == "__main__":
    main()
