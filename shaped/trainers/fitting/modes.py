"""Training and evaluation modes, put back as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn


@contextmanager
def modes_kept(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Every submodule's mode is after the block what it was before, also after an exception.

    `train()` and `eval()` on the whole would lose that a part was put into evaluation mode on its own, which is how
    the statistics of a batch normalisation are frozen.

    >>> model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
    >>> _ = model[0].eval()
    >>> with modes_kept([model]):
    ...     _ = model.eval()
    >>> model.training, model[0].training, model[1].training
    (True, False, True)
    """
    before = [(one, one.training) for module in modules for one in module.modules()]
    try:
        yield
    finally:
        for one, mode in before:
            one.training = mode


def train_unless_frozen(modules: Sequence[nn.Module]) -> None:
    """Put modules into training mode. One that is in it already stays as it is: parts in evaluation mode are meant."""
    for module in modules:
        if not module.training:
            module.train()
