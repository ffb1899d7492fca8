"""A perceptron reads digits, trained by a compiled step: eager's numbers, to the bit, in a fraction of the time."""

import time

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from shaped.runtime import compile_forward, compile_step
from shaped.runtime.data import digits


class Perceptron(nn.Module):
    """Images of 8x8 pixels in, one score for each class out."""

    def __init__(self, hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, images: Float[Tensor, "batch 1 8 8"]) -> Float[Tensor, "batch classes"]:
        return self.head(F.relu(self.hidden(images.flatten(1))))


def loss(model: Perceptron, images: Float[Tensor, "batch 1 8 8"], labels: Int[Tensor, "batch"]) -> Float[Tensor, ""]:
    """The mean cross-entropy over a batch."""
    return F.cross_entropy(model(images), labels)


def train(
    images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"], epochs: int, backend: str
) -> tuple[Perceptron, float]:
    """Train on all images, 32 at a time; gives the model and the seconds that it took, without those of compiling."""
    torch.manual_seed(0)
    model = Perceptron(hidden=32, classes=10)
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    step = compile_step(model, loss, adam, (images[:32], labels[:32]), backend=backend)
    start = time.perf_counter()
    for _ in range(epochs):
        order = torch.randperm(len(images))[: len(images) // 32 * 32]
        for batch in order.view(-1, 32):
            step(images[batch], labels[batch])
    return model, time.perf_counter() - start


def accuracy(model: Perceptron, images: Float[Tensor, "n 1 8 8"], labels: Int[Tensor, "n"]) -> float:
    """The share of images whose digit is read right, by a compiled forward."""
    scores = compile_forward(model, (images,))
    return (scores(images).argmax(dim=1) == labels).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    training, test = digits(seed=0)
    model, seconds = train(training.images, training.labels, 20, "eager")
    compiled, compiled_seconds = train(training.images, training.labels, 20, "script")
    print(f"eager: {seconds:.1f} s; compiled: {compiled_seconds:.1f} s")
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), compiled.parameters()))

    reached = accuracy(compiled, test.images, test.labels)
    print(f"accuracy on held-out digits: {reached:.3f}")
    assert reached > 0.95


if __name__ == "__main__":
    main()
