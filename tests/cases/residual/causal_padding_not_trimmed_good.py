"""A causal convolution pads on both sides and forgets to cut the end off.

Kind: residual.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class CausalConv1d(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel_size=3, padding=2)
        self.gate = nn.Conv1d(channels, channels, kernel_size=1)

    def forward(self, x: Float[Tensor, "batch channels time"]) -> Float[Tensor, "batch channels time"]:
        y = self.conv(x)[..., :-2]
        y = torch.tanh(y) * torch.sigmoid(self.gate(y))
        return y + x


def main() -> None:
    for b in (1, 2):
        assert CausalConv1d(4)(torch.randn(b, 4, 9)).shape == (b, 4, 9)


if __name__ == "__main__":
    main()
