"""What a training run measured, epoch by epoch."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, overload

from shaped.runtime.atomic import replacing


@dataclass(frozen=True)
class Epoch:
    """The measurements of one epoch.

    Args:
        number: which epoch, from 1.
        step: how many updates there were in the run by its end.
        learning_rate: that of the first group in the epoch's last update.
        training: mean over the training examples, each measured when its batch was trained on: `loss` and the metrics.
        validation: mean over the validation examples after the epoch; empty where there are none.
        skipped: the batches left out because their loss was not finite.
        seconds: how long it took.

    >>> Epoch(1, 10, 0.1, {"loss": 0.5}, {"loss": 0.75, "accuracy": 0.5}).values
    {'training loss': 0.5, 'validation loss': 0.75, 'validation accuracy': 0.5}
    """

    number: int
    step: int
    learning_rate: float
    training: Mapping[str, float]
    validation: Mapping[str, float] = field(default_factory=dict)
    skipped: int = 0
    seconds: float = 0.0

    @property
    def values(self) -> dict[str, float]:
        """All that was measured, by the names that `EarlyStop`, the curve and files use."""
        return {
            f"{part} {name}": value
            for part, measured in (("training", self.training), ("validation", self.validation))
            for name, value in measured.items()
        }

    def __str__(self) -> str:
        parts = [f"{name} {value:.4g}" for name, value in self.values.items()]
        if self.skipped:
            parts.append("1 batch skipped" if self.skipped == 1 else f"{self.skipped} batches skipped")
        return ", ".join([*parts, f"{self.seconds:.1f} s"])


class History(Sequence[Epoch]):
    """The epochs of a run, in order.

    Args:
        epochs: those so far.

    Attributes:
        stopped_early: whether an `EarlyStop` ended the run.

    >>> history = History([Epoch(1, 10, 0.1, {"loss": 0.5}), Epoch(2, 20, 0.1, {"loss": 0.25})])
    >>> history["training loss"]
    [0.5, 0.25]
    >>> history[-1].number, len(history)
    (2, 2)
    """

    def __init__(self, epochs: Iterable[Epoch] = ()) -> None:
        self._epochs = list(epochs)
        self.stopped_early = False

    def append(self, epoch: Epoch) -> None:
        """Add the next epoch."""
        self._epochs.append(epoch)

    def __len__(self) -> int:
        return len(self._epochs)

    @overload
    def __getitem__(self, which: int) -> Epoch: ...
    @overload
    def __getitem__(self, which: slice) -> History: ...
    @overload
    def __getitem__(self, which: str) -> list[float]: ...
    def __getitem__(self, which: int | slice | str) -> Epoch | History | list[float]:
        """The epoch at a position, or the values of a name, epoch by epoch (NaN where one has none)."""
        if isinstance(which, str):
            if which not in self.names:
                raise KeyError(f"{which!r}: the history has {', '.join(map(repr, self.names)) or 'no epoch'}")
            return [epoch.values.get(which, math.nan) for epoch in self]
        return History(self._epochs[which]) if isinstance(which, slice) else self._epochs[which]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and self._epochs == other._epochs

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"History({self._epochs!r})"

    @property
    def names(self) -> list[str]:
        """What was measured, in order of appearance."""
        return list(dict.fromkeys(name for epoch in self for name in epoch.values))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table with a row for each epoch."""
        with replacing(path) as new, new.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["epoch", "step", "learning rate", *self.names, "skipped", "seconds"])
            for epoch in self:
                measured = [epoch.values.get(name, "") for name in self.names]
                row = [epoch.number, epoch.step, epoch.learning_rate, *measured, epoch.skipped, epoch.seconds]
                writer.writerow(row)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write all of it; `from_json` reads it again. What is not finite, JSON's numbers cannot say, is text."""
        with replacing(path) as new:
            text = json.dumps({"epochs": [_as_text(one) for one in self.state()]}, indent=1, allow_nan=False)
            new.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> History:
        """Read what `to_json` wrote."""
        return cls.from_state(json.loads(Path(path).read_text(encoding="utf-8"))["epochs"])

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the loss and the metrics over the epochs, as PNG, PDF or SVG by the name's ending.

        Raises:
            ImportError: matplotlib is not installed.
        """
        from shaped.trainers.fitting.curve import draw

        draw(self, path)

    def state(self) -> list[dict[str, Any]]:
        """As plain data."""
        return [asdict(epoch) for epoch in self]

    @classmethod
    def from_state(cls, state: object) -> History:
        """From what `state` gave.

        Raises:
            ValueError: it is something else.
        """
        try:
            if not isinstance(state, list):
                raise TypeError(f"a {type(state).__name__}, not a list")
            return cls(_epoch(one) for one in state)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise ValueError(f"it is no history: {error}") from error


def _epoch(state: Mapping[str, Any]) -> Epoch:
    """An epoch from plain data."""
    return Epoch(
        number=int(state["number"]),
        step=int(state["step"]),
        learning_rate=float(state["learning_rate"]),
        training={str(name): float(value) for name, value in state["training"].items()},
        validation={str(name): float(value) for name, value in state["validation"].items()},
        skipped=int(state["skipped"]),
        seconds=float(state["seconds"]),
    )


def _as_text(value: Any) -> Any:
    """The value with `"nan"`, `"inf"` and `"-inf"` for what is not finite."""
    if isinstance(value, dict):
        return {name: _as_text(one) for name, one in value.items()}
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
