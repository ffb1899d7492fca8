"""An assertion pins an axis that the layer contradicts.

Kind: structure.
"""

import torch
from torch import nn


class TabEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 8)

    def forward(self, x):
        assert x.dim() == 2 and x.size(1) == 16
        return self.fc(x)  # error[shape]


def main() -> None:
    for b in (2, 3):
        assert TabEncoder()(torch.randn(b, 16)).shape == (b, 8)


if __name__ == "__main__":
    main()
