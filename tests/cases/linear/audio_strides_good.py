"""The head of a 1-d conv net on 8,000 samples, with a stride changed from 4 to 5 later on.

Kind: linear.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class AudioNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, kernel_size=80, stride=4)
        self.bn1 = nn.BatchNorm1d(16)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(16, 32, kernel_size=3)
        self.pool2 = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(32 * 123, 35)

    def forward(self, x: Float[Tensor, "n 1 8000"]) -> Float[Tensor, "n 35"]:
        x = self.pool1(F.relu(self.bn1(self.conv1(x))))
        x = self.pool2(F.relu(self.conv2(x)))
        return self.fc1(x.flatten(1))


def main() -> None:
    for n in (2, 3):
        assert AudioNet()(torch.randn(n, 1, 8000)).shape == (n, 35)


if __name__ == "__main__":
    main()
