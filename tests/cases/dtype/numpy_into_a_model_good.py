"""NumPy's float64 is made float32 before a model of float32 takes it, or the model is made float64.

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
        return self.layers(x)


def main() -> None:
    data = np.random.randn(32, 5)
    Regression(5)(torch.from_numpy(data).float())
    Regression(5)(torch.from_numpy(data.astype(np.float32)))
    Regression(5)(torch.tensor(data, dtype=torch.float32))
    Regression(5).double()(torch.from_numpy(data))


if __name__ == "__main__":
    main()
