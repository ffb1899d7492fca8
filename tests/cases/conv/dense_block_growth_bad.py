"""A dense block's layers do not count what the earlier ones added.

Kind: conv.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class DenseLayer(nn.Module):
    def __init__(self, num_input_features: int, growth_rate: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.conv = nn.Conv2d(num_input_features, growth_rate, kernel_size=3, padding=1, bias=False)

    def forward(self, x):
        new_features = self.conv(F.relu(self.norm(x)))  # error[shape]
        return torch.cat([x, new_features], 1)


class DenseNet(nn.Module):
    def __init__(self, growth_rate: int = 12) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, padding=1)
        self.layer1 = DenseLayer(24, growth_rate)
        self.layer2 = DenseLayer(24, growth_rate)

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b c h w"]:
        x = self.layer1(self.stem(x))
        return self.layer2(x)  # cause


def main() -> None:
    for b in (1, 2):
        assert DenseNet()(torch.randn(b, 3, 8, 6)).shape == (b, 48, 8, 6)


if __name__ == "__main__":
    main()
