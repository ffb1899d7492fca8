"""The mean goes over the height only, the width stays.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Head(nn.Module):
    def __init__(self, channels: int, num_classes: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.fc = nn.Linear(channels, num_classes)

    def forward(self, features: Float[Tensor, "b channels h w"]) -> Float[Tensor, "b num_classes"]:
        x = F.relu(self.norm(features))
        x = x.mean(dim=2)
        return self.fc(x)  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert Head(6, 4)(torch.randn(b, 6, 5, 7)).shape == (b, 4)


if __name__ == "__main__":
    main()
