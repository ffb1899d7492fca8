"""A spatial broadcast decoder expands a latent of rank two with four sizes for a grid.

Kind: expand.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class SpatialBroadcast(nn.Module):
    def __init__(self, latent: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.conv = nn.Conv2d(latent, 3, 1)

    def forward(self, z: Float[Tensor, "b latent"]) -> Float[Tensor, "b 3 size size"]:
        grid = z.expand(-1, -1, self.size, self.size)  # error[shape]
        return self.conv(grid)


def main() -> None:
    for b in (2, 3):
        assert SpatialBroadcast(4, 5)(torch.randn(b, 4)).shape == (b, 3, 5, 5)


if __name__ == "__main__":
    main()
