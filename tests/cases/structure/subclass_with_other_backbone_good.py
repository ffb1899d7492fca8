"""A subclass changes the backbone and inherits the head.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Classifier(nn.Module):
    feature_dim = 32

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.backbone = self.make_backbone()
        self.head = nn.Linear(self.feature_dim, num_classes)

    def make_backbone(self) -> nn.Module:
        return nn.Sequential(nn.Linear(10, 32), nn.ReLU())

    def forward(self, x: Float[Tensor, "b 10"]) -> Float[Tensor, "b num_classes"]:
        return self.head(self.backbone(x))


class WideClassifier(Classifier):
    feature_dim = 128

    def make_backbone(self) -> nn.Module:
        return nn.Sequential(nn.Linear(10, 128), nn.ReLU())


def run(x: Float[Tensor, "b 10"]) -> Float[Tensor, "b 5"]:
    return WideClassifier(5)(x)


def main() -> None:
    for b in (1, 2):
        assert run(torch.randn(b, 10)).shape == (b, 5)


if __name__ == "__main__":
    main()
