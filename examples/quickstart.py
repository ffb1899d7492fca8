"""A first network: two layers learn a kinked surface, from weights that are the same on every machine."""

from itertools import product

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from shaped import TList
from shaped.init import TORCHLEAN, init_module
from shaped.trainers import ScalarTrainer, mean_loss, train_cycle

Sample = TList[Float[Tensor, "2"], Float[Tensor, "1"]]


class MLP(nn.Module):
    """Two numbers in, one out."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x: Float[Tensor, "2"]) -> Float[Tensor, "1"]:
        return self.fc2(F.relu(self.fc1(x)))


def target(x: Float[Tensor, "n 2"]) -> Float[Tensor, "n 1"]:
    """The surface: a plane with two kinks."""
    x1, x2 = x[:, :1], x[:, 1:]
    return 0.8 * F.relu(x1 + x2) - 0.4 * F.relu(x2 - x1) + 0.2


def grid() -> list[Sample]:
    """A grid of points, each with its height."""
    ticks = [-1.0, -0.5, 0.0, 0.5, 1.0]
    points = torch.tensor(list(product(ticks, ticks)))
    return [TList(x, y) for x, y in zip(points, target(points))]


def loss(model: MLP, sample: Sample) -> Float[Tensor, ""]:
    """The squared error at one point."""
    x, y = sample
    return F.mse_loss(model(x), y)


def main() -> None:
    model = init_module(MLP(hidden=8), TORCHLEAN, seed=0, seeds="reference")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    trainer = ScalarTrainer.for_module(model, loss, optimizer=optimizer)
    samples = grid()
    before = mean_loss(trainer, samples)
    train_cycle(trainer, 200, samples, log_every=50)
    after = mean_loss(trainer, samples)
    print(f"mean loss: {before:.6f} before, {after:.6f} after 200 steps")
    # The same weights everywhere, so the same losses to six digits.
    assert f"{before:.6f}" == "1.349908"
    assert after < 0.003


if __name__ == "__main__":
    main()
