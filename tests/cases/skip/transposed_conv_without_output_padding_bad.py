"""A transposed convolution of kernel three gives one pixel less than twice the size.

Kind: skip.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Decoder(nn.Module):
    def __init__(self, c: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * c, c, kernel_size=3, stride=2, padding=1)

    def forward(
        self, x: Float[Tensor, "b 2*c h w"], skip: Float[Tensor, "b c 2*h 2*w"]
    ) -> Float[Tensor, "b c 2*h 2*w"]:
        return F.relu(self.up(x) + skip)  # error[shape]


def main() -> None:
    for b in (1, 2):
        assert Decoder(4)(torch.randn(b, 8, 5, 6), torch.randn(b, 4, 10, 12)).shape == (b, 4, 10, 12)


if __name__ == "__main__":
    main()
