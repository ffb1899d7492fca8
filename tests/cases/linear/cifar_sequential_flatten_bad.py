"""A CIFAR net in one Sequential; padding keeps the size, so that two pools give 8x8 and not 5x5.

Kind: linear.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class CifarNet(nn.Module):
    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 16, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Linear(32 * 5 * 5, 120),
            nn.ReLU(),
            nn.Linear(120, num_classes),
        )

    def forward(self, img: Float[Tensor, "B 3 32 32"]) -> Float[Tensor, "B num_classes"]:
        return self.model(img)  # error[shape]


def main() -> None:
    for b in (1, 4):
        assert CifarNet()(torch.randn(b, 3, 32, 32)).shape == (b, 10)


if __name__ == "__main__":
    main()
