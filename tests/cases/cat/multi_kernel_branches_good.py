"""Branches with different kernels are stacked without the padding that keeps their lengths equal.

Kind: cat.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class MultiScale(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.branches = nn.ModuleList([nn.Conv1d(channels, channels, k, padding=k // 2) for k in (1, 3, 5)])

    def forward(self, x: Float[Tensor, "b channels t"]) -> Float[Tensor, "b channels t"]:
        outs = [branch(x) for branch in self.branches]
        return torch.stack(outs, dim=0).sum(dim=0)


def main() -> None:
    for b in (1, 3):
        assert MultiScale(2)(torch.randn(b, 2, 9)).shape == (b, 2, 9)


if __name__ == "__main__":
    main()
