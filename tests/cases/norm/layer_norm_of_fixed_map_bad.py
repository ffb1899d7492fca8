"""A LayerNorm over channels, height and width of the map before the pooling.

Kind: norm.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class WganCritic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 4, stride=2, padding=1)
        self.norm = nn.LayerNorm([8, 32, 32])
        self.out = nn.Conv2d(8, 1, 16)

    def forward(self, x: Float[Tensor, "b 3 32 32"]) -> Float[Tensor, "b"]:
        h = self.conv(x)
        h = F.leaky_relu(self.norm(h), 0.2)  # error[shape]
        return self.out(h).view(-1)


def main() -> None:
    for b in (1, 3):
        assert WganCritic()(torch.randn(b, 3, 32, 32)).shape == (b,)


if __name__ == "__main__":
    main()
