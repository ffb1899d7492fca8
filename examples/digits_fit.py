"""A convolutional net reads handwritten digits, trained by `fit`: curves and a confusion matrix as PNG."""

import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.data import random_split

from shaped.runtime.data import Batches, digits
from shaped.trainers import ClampedCosine, EarlyStop, accuracy, fit, supervised


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

    @torch.no_grad()
    def read(self, images: Float[Tensor, "batch 1 8 8"]) -> Int[Tensor, "batch"]:
        """The digit that each image most likely shows."""
        self.eval()
        return self(images).argmax(dim=1)


def confusion_matrix(
    digits: Int[Tensor, "n"], read: Int[Tensor, "n"], classes: int
) -> Int[Tensor, "{classes} {classes}"]:
    """How often each digit (a row) was read as each (a column)."""
    pairs = digits * classes + read
    return torch.bincount(pairs, minlength=classes * classes).view(classes, classes)


def draw(matrix: Int[Tensor, "classes classes"], path: Path) -> None:
    """Write a confusion matrix as a picture."""
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.matshow(matrix, cmap="Blues")
    for digit, row in enumerate(matrix.tolist()):
        for read, count in enumerate(row):
            if count:
                axes.text(
                    read, digit, str(count), ha="center", va="center", color="white" if read == digit else "black"
                )
    axes.set(xlabel="read as", ylabel="digit", xticks=range(len(matrix)), yticks=range(len(matrix)))
    figure.savefig(path)
    plt.close(figure)


def judge(model: ConvNet, images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"], path: Path) -> float:
    """Draw the confusion matrix; gives the share of digits that are read right."""
    matrix = confusion_matrix(labels, model.read(images), classes=10)
    draw(matrix, path)
    return matrix.diagonal().sum().item() / matrix.sum().item()


def main() -> None:
    start = time.perf_counter()
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="digits-"))
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    kept, test = digits(seed=0, held_out=300)
    training, validation = random_split(kept, [len(kept) - 200, 200])
    model = ConvNet(channels=16, classes=10)
    history = fit(
        model,
        supervised(nn.CrossEntropyLoss(), accuracy=accuracy),
        Batches(training, batch_size=64, seed=0),
        validation=Batches(validation, batch_size=200, shuffle=False),
        epochs=30,
        optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=3e-3),
        scheduler=lambda optimizer: ClampedCosine(optimizer, t_max=30),
        early_stop=EarlyStop(patience=8),
        curve=folder / "curves.png",
    )
    print(f"{len(history)} epochs, the best validation loss {min(history['validation loss']):.4f}")

    reached = judge(model, test.images, test.labels, folder / "confusion.png")
    print(
        f"accuracy on held-out digits: {reached:.3f}, after {time.perf_counter() - start:.0f} s; pictures in {folder}"
    )
    assert reached >= 0.97


if __name__ == "__main__":
    main()
