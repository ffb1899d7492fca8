"""Runs that the tests of resuming share: everything random that a run can have, from a seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, TensorDataset

from shaped.trainers import EarlyStop, Epoch, accuracy, fit, supervised
from tests import equality

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Result:
    """All that a run comes to, to be compared with that of another."""

    weights: dict[str, Tensor]
    optimizer: dict[str, Any]
    history: list[Epoch]
    numbers: tuple[Tensor, float, float]
    stopped_early: bool


def seeded(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def data(rows: int = 40) -> TensorDataset:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 4, generator=generator)
    return TensorDataset(x, x[:, :3].argmax(1))


class Noisy(nn.Module):
    """A classifier with a buffer that learns, dropout, and noise of Python's and numpy's generators."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            x = x + 0.01 * random.random() + 0.01 * float(np.random.rand())
        return self.body(x)  # type: ignore[no-any-return]


def run(
    epochs: int,
    checkpoint: Path | None = None,
    *,
    start: int = 0,
    optimizer: Callable[[Iterable[nn.Parameter]], Optimizer],
    scheduler: Callable[[Optimizer], LRScheduler] | None = None,
    scheduler_every: Any = "epoch",
    generator: torch.Generator | None = None,
    early_stop: EarlyStop | None = None,
    wrap: Callable[[Any], Any] = lambda loss: loss,
    **settings: Any,
) -> Result:
    """Everything anew, drawn from the seed `start`; then as many epochs as are missing."""
    seeded(start)
    model = Noisy()
    made = optimizer(model.parameters())
    history = fit(
        model,
        wrap(supervised(nn.CrossEntropyLoss(), accuracy=accuracy)),
        DataLoader(data(), 16, shuffle=True, generator=generator),
        validation=DataLoader(data(20), 7, shuffle=True),
        epochs=epochs,
        optimizer=made,
        scheduler=scheduler,
        scheduler_every=scheduler_every,
        early_stop=early_stop,
        checkpoint=checkpoint,
        progress=False,
        **settings,
    )
    return Result(
        weights=copy.deepcopy(model.state_dict()),
        optimizer=made.state_dict(),
        history=[replace(epoch, seconds=0.0) for epoch in history],
        numbers=(torch.rand(3), random.random(), float(np.random.rand())),
        stopped_early=history.stopped_early,
    )


def same(one: Any, other: Any) -> bool:
    """Whether results, or parts of them, are equal, tensors to the bit."""
    return equality.same(vars(one), vars(other)) if isinstance(one, Result) else equality.same(one, other)


def broken_off(loss: Any, after: int, break_off: Callable[[], object]) -> Any:
    """The loss, which breaks the run off when it is asked for after so many calls."""
    calls = 0

    def counted(model: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            break_off()
        return loss(model, batch)

    return counted
