"""Feature maps are joined along the width instead of the channels.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Merge(nn.Module):
    def __init__(self, low: int, high: int, out: int) -> None:
        super().__init__()
        self.fuse = nn.Conv2d(low + high, out, kernel_size=1)

    def forward(self, a: Float[Tensor, "b low h w"], c: Float[Tensor, "b high h w"]) -> Float[Tensor, "b out h w"]:
        x = torch.cat([a, c], dim=-1)  # error[shape]
        return self.fuse(x)


def main() -> None:
    for b in (1, 3):
        assert Merge(2, 3, 4)(torch.randn(b, 2, 5, 6), torch.randn(b, 3, 5, 6)).shape == (b, 4, 5, 6)


if __name__ == "__main__":
    main()
