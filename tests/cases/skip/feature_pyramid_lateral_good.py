"""A feature pyramid adds levels whose channels were not brought together.

Kind: skip.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class FPN(nn.Module):
    def __init__(self, out_channels: int = 64) -> None:
        super().__init__()
        self.lateral4 = nn.Conv2d(128, out_channels, 1)
        self.lateral5 = nn.Conv2d(256, out_channels, 1)
        self.smooth = nn.Conv2d(out_channels, out_channels, 3, padding=1)

    def forward(
        self, c4: Float[Tensor, "b 128 2*h 2*w"], c5: Float[Tensor, "b 256 h w"]
    ) -> Float[Tensor, "b c 2*h 2*w"]:
        p5 = self.lateral5(c5)
        top_down = F.interpolate(p5, scale_factor=2, mode="nearest")
        p4 = self.lateral4(c4) + top_down
        return self.smooth(p4)


def main() -> None:
    for b in (1, 2):
        assert FPN()(torch.randn(b, 128, 8, 6), torch.randn(b, 256, 4, 3)).shape == (b, 64, 8, 6)


if __name__ == "__main__":
    main()
