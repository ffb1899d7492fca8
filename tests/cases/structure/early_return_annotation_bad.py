"""In evaluation the scores are returned before the mean over the crops.

Kind: structure.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class TenCrop(nn.Module):
    def __init__(self, d: int, classes: int) -> None:
        super().__init__()
        self.fc = nn.Linear(d, classes)

    def forward(self, crops: Float[Tensor, "b n d"]) -> Float[Tensor, "b classes"]:
        scores = self.fc(crops)
        if not self.training:
            return scores.softmax(dim=-1)  # error[shape]
        return scores.mean(dim=1)


def main() -> None:
    for b in (1, 2):
        assert TenCrop(3, 4)(torch.randn(b, 5, 3)).shape == (b, 4)
        assert TenCrop(3, 4).eval()(torch.randn(b, 5, 3)).shape == (b, 4)


if __name__ == "__main__":
    main()
