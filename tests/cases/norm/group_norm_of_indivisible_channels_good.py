"""Thirty-two groups do not divide eighty channels.

Kind: norm.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ConvGN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 80, 3, padding=1)
        self.gn = nn.GroupNorm(16, 80)

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 80 h w"]:
        return F.silu(self.gn(self.conv(x)))


def main() -> None:
    for b in (1, 3):
        assert ConvGN()(torch.randn(b, 3, 5, 6)).shape == (b, 80, 5, 6)


if __name__ == "__main__":
    main()
