"""NumPy's float64 goes into a model of float32.

Kind: dtype.
"""

import numpy as np
import torch
from torch import Tensor, nn


class Regression(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # error[dtype]


def main() -> None:
    data = np.random.randn(32, 5)
    normalized = (data - data.min()) / 2.0
    model = Regression(5)
    model(torch.from_numpy(np.random.randn(32, 5)))
    print(normalized)


if __name__ == "__main__":
    main()
