"""Grayscale images go into a stem for three channels.

Kind: conv.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, kernel_size=7, stride=2, padding=3)

    def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 16"]:
        return self.stem(x).mean(dim=(2, 3))


class XrayClassifier(nn.Module):
    def __init__(self, num_findings: int) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(16, num_findings)

    def forward(self, scan: Float[Tensor, "b 1 h w"]) -> Float[Tensor, "b num_findings"]:
        return self.head(self.backbone(scan.expand(-1, 3, -1, -1)))


def main() -> None:
    for b in (1, 3):
        assert XrayClassifier(4)(torch.randn(b, 1, 32, 32)).shape == (b, 4)


if __name__ == "__main__":
    main()
