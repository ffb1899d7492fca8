"""`shaped.trainers.fit` trains a convolutional net on handwritten digits, stops early, and keeps the best weights."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers import EarlyStop, accuracy, fit, supervised


class ConvNet(nn.Module):
    """Images of 8x8 pixels in, one score for each class out."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, 2 * channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(2 * channels)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(2 * channels * 4 * 4, classes)

    def forward(self, images: Float[Tensor, "batch 1 8 8"]) -> Float[Tensor, "batch classes"]:
        x = F.relu(self.conv1(images))
        x = F.relu(self.norm(self.conv2(x)))
        x = F.max_pool2d(x, 2)
        return self.head(self.dropout(x.flatten(1)))


def load() -> tuple[Float[Tensor, "n 1 8 8"], Int[Tensor, "n"]]:
    """All 1,797 images, pixels from 0 to 1, and their digits."""
    pixels, digits = load_digits(return_X_y=True)
    images = torch.tensor(pixels, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    return images, torch.tensor(digits)


@torch.no_grad()
def held_out_accuracy(model: ConvNet, images: Float[Tensor, "n 1 8 8"], digits: Int[Tensor, "n"]) -> float:
    """The share of digits that are read right."""
    model.eval()
    return accuracy(model(images), digits).item()


def experiment(images: Float[Tensor, "n 1 8 8"], digits: Int[Tensor, "n"]) -> float:
    """Train on 1,297 images, choose the epoch by 200; gives the accuracy on the other 300."""
    order = torch.randperm(len(images))
    training, validation, test = order[:1297], order[1297:1497], order[1497:]
    model = ConvNet(channels=16, classes=10)
    history = fit(
        model,
        supervised(nn.CrossEntropyLoss(), accuracy=accuracy),
        DataLoader(TensorDataset(images[training], digits[training]), batch_size=64, shuffle=True),
        validation=[(images[validation], digits[validation])],
        epochs=30,
        optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=3e-3),
        scheduler=lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30),
        early_stop=EarlyStop(patience=8),
    )
    print(f"{len(history)} epochs, the best validation loss {min(history['validation loss']):.4f}")
    return held_out_accuracy(model, images[test], digits[test])


def main() -> None:
    torch.manual_seed(0)
    reached = experiment(*load())
    print(f"accuracy on held-out digits: {reached:.3f}")
    assert reached >= 0.97


if __name__ == "__main__":
    main()
