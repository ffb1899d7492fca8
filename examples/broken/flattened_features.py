"""The head of a LeNet for 32x32 images, reused for the 28x28 images of MNIST."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class LeNet(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16 * 5 * 5, 120)
        self.head = nn.Linear(120, classes)

    def forward(self, images: Float[Tensor, "batch 1 28 28"]) -> Float[Tensor, "batch classes"]:
        x = self.pool(F.relu(self.conv1(images)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.flatten(start_dim=1)
        x = F.relu(self.fc(x))  # error: shape
        return self.head(x)


def main() -> None:
    LeNet(classes=10)(torch.randn(2, 1, 28, 28))


if __name__ == "__main__":
    main()
