"""MobileNet's shortcut is taken whenever the stride is one, whatever the channels.

Kind: residual.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class InvertedResidual(nn.Module):
    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int) -> None:
        super().__init__()
        hidden_dim = inp * expand_ratio
        self.use_res_connect = stride == 1
        self.conv = nn.Sequential(
            nn.Conv2d(inp, hidden_dim, 1, bias=False),
            nn.BatchNorm2d(hidden_dim),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden_dim, hidden_dim, 3, stride, 1, groups=hidden_dim, bias=False),
            nn.BatchNorm2d(hidden_dim),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden_dim, oup, 1, bias=False),
            nn.BatchNorm2d(oup),
        )

    def forward(self, x: Float[Tensor, "b inp h w"]) -> Float[Tensor, "b oup h2 w2"]:
        if self.use_res_connect:
            return x + self.conv(x)  # error[shape]
        return self.conv(x)


def main() -> None:
    assert InvertedResidual(4, 4, 1, 2)(torch.randn(2, 4, 8, 8)).shape == (2, 4, 8, 8)
    assert InvertedResidual(4, 6, 2, 2)(torch.randn(2, 4, 8, 8)).shape == (2, 6, 4, 4)
    assert InvertedResidual(4, 6, 1, 2)(torch.randn(2, 4, 8, 8)).shape == (2, 6, 8, 8)


if __name__ == "__main__":
    main()
