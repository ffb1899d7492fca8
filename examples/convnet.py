"""A convolutional net with residual blocks reads handwritten digits, in mini-batches."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor, nn


class Block(nn.Module):
    """A residual block: divides the resolution by `stride`, rounded up; the shortcut is projected where needed."""

    def __init__(self, c_in: int, c_out: int, stride: int = 1) -> None:
        super().__init__()
        self.stride = stride
        self.conv1 = nn.Conv2d(c_in, c_out, kernel_size=3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, kernel_size=3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(c_out)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.shortcut = nn.Conv2d(c_in, c_out, kernel_size=1, stride=stride, bias=False)

    def forward(
        self, x: Float[Tensor, "batch c_in h w"]
    ) -> Float[Tensor, "batch c_out (h-1)//{self.stride}+1 (w-1)//{self.stride}+1"]:
        out = F.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class ConvNet(nn.Module):
    """A stem, two stages, and a linear head on the last 4x4 feature map."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, width, kernel_size=3, padding=1)
        self.stages = nn.Sequential(Block(width, width), Block(width, 2 * width, stride=2))
        self.head = nn.Linear(2 * width * 4 * 4, classes)

    def forward(self, images: Float[Tensor, "batch 1 8 8"]) -> Float[Tensor, "batch classes"]:
        features = self.stages(F.relu(self.stem(images)))
        return self.head(features.flatten(start_dim=1))


def load() -> tuple[Float[Tensor, "n 1 8 8"], Int[Tensor, "n"]]:
    """All images with pixels from 0 to 1, and their digits."""
    digits = load_digits()
    pixels: Float[np.ndarray, "n 8 8"] = digits.images
    labels: Int[np.ndarray, "n"] = digits.target
    return torch.tensor(pixels, dtype=torch.float32).unsqueeze(1) / 16, torch.tensor(labels)


def train_step(
    model: ConvNet,
    optimizer: torch.optim.Optimizer,
    images: Float[Tensor, "batch 1 8 8"],
    labels: Int[Tensor, "batch"],
) -> float:
    """One step of gradient descent; gives the loss before it."""
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: ConvNet, images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"]) -> float:
    """The share of images whose digit is read right."""
    model.eval()
    guess = model(images).argmax(dim=1)
    return (guess == labels).float().mean().item()


def experiment(images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"]) -> float:
    """Train on 1,500 images, in random batches of 50; gives the accuracy on the others."""
    order = torch.randperm(len(images))
    training, held_out = order[:1500], order[1500:]
    model = ConvNet(width=8, classes=10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, picks in enumerate(torch.randint(len(training), (120, 50))):
        rows = training[picks]
        loss = train_step(model, optimizer, images[rows], labels[rows])
        if step % 30 == 0:
            print(f"step {step}: loss {loss:.3f}")
    return accuracy(model, images[held_out], labels[held_out])


def main() -> None:
    torch.manual_seed(0)
    reached = experiment(*load())
    print(f"accuracy on held-out digits: {reached:.3f}")
    assert reached > 0.9


if __name__ == "__main__":
    main()
