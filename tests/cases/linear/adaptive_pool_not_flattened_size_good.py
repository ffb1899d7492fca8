"""VGG's classifier after an adaptive pool to 7x7, written for a global pool.

Kind: linear.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Vgg(nn.Module):
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(True), nn.MaxPool2d(2), nn.Conv2d(64, 128, 3, padding=1)
        )
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(128 * 7 * 7, 256),
            nn.ReLU(True),
            nn.Dropout(),
            nn.Linear(256, n_classes),
        )

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n_classes"]:
        x = self.features(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.classifier(x)


def main() -> None:
    for b, size in ((1, 40), (3, 56)):
        assert Vgg(5)(torch.randn(b, 3, size, size)).shape == (b, 5)


if __name__ == "__main__":
    main()
