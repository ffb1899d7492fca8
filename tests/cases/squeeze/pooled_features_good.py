"""A global pool's axes of size one are squeezed, with them a batch of one.

Kind: squeeze.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Classifier(nn.Module):
    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)))
        self.fc = nn.Linear(12, num_classes)

    def forward(self, x: Float[Tensor, "batch 3 h w"]) -> Float[Tensor, "batch num_classes"]:
        feats = self.backbone(x).squeeze(-1).squeeze(-1)
        return self.fc(feats)


def main() -> None:
    for b in (4, 1):
        logits = Classifier(7)(torch.randn(b, 3, 16, 16))
        assert logits.argmax(dim=1).shape == (b,)


if __name__ == "__main__":
    main()
