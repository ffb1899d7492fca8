"""A BatchNorm1d gets the time on its channel axis.

Kind: norm.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.bn = nn.BatchNorm1d(d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "b t d_model"]) -> Float[Tensor, "b t d_model"]:
        h = F.gelu(self.fc1(x))
        h = self.bn(h.transpose(1, 2)).transpose(1, 2)
        return self.fc2(h)


def main() -> None:
    for b in (1, 3):
        assert FeedForward(4, 6)(torch.randn(b, 5, 4)).shape == (b, 5, 4)


if __name__ == "__main__":
    main()
