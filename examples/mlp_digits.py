"""A multilayer perceptron learns to read handwritten digits: scikit-learn's 1,797 images of 8x8 pixels."""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from torch import Tensor, nn


class MLP(nn.Module):
    """Two hidden layers; pixels in, one score for each class out."""

    def __init__(self, pixels: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(pixels, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Float[Tensor, "batch pixels"]) -> Float[Tensor, "batch classes"]:
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.head(x)


def load() -> tuple[Float[Tensor, "n 64"], Int[Tensor, "n"]]:
    """All images as rows of pixels from 0 to 1, and their digits."""
    pixels: Float[np.ndarray, "n 64"]
    digits: Int[np.ndarray, "n"]
    pixels, digits = load_digits(return_X_y=True)
    return torch.tensor(pixels, dtype=torch.float32) / 16, torch.tensor(digits)


def train(model: MLP, x: Float[Tensor, "n pixels"], y: Int[Tensor, "n"], steps: int = 150) -> None:
    """Fit the model to all of the data in each step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model: MLP, x: Float[Tensor, "n pixels"], y: Int[Tensor, "n"]) -> float:
    """The share of images whose digit is read right."""
    guess = model(x).argmax(dim=1)
    return (guess == y).float().mean().item()


def experiment(x: Float[Tensor, "n 64"], y: Int[Tensor, "n"]) -> float:
    """Train on 1,500 images; gives the accuracy on the others."""
    order = torch.randperm(len(x))
    training, held_out = order[:1500], order[1500:]
    model = MLP(pixels=64, hidden=64, classes=10)
    train(model, x[training], y[training])
    return accuracy(model, x[held_out], y[held_out])


def main() -> None:
    torch.manual_seed(0)
    reached = experiment(*load())
    print(f"accuracy on held-out digits: {reached:.3f}")
    assert reached > 0.9


if __name__ == "__main__":
    main()
