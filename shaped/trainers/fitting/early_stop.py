"""When to stop before the last epoch: a watched value that gets no better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

from shaped.runtime.arguments import require_whole
from shaped.runtime.model_state import model_problems


@dataclass(frozen=True)
class EarlyStop:
    """Stop after `patience` epochs in a row without an improvement.

    Args:
        patience: how many epochs without an improvement are put up with.
        minimum_change: an improvement is a change by more than this.
        monitor: the value that is watched, as the history names it (`validation loss`, `validation accuracy`).
        mode: whether smaller values are better ("min") or larger ones ("max").
        restore_best: whether the model has the weights of the best epoch in the end.

    >>> EarlyStop(patience=0)
    Traceback (most recent call last):
    ValueError: EarlyStop: patience is 0: at least 1 epoch is needed
    """

    patience: int
    minimum_change: float = 0.0
    monitor: str = "validation loss"
    mode: Literal["min", "max"] = "min"
    restore_best: bool = True

    def __post_init__(self) -> None:
        if require_whole("EarlyStop: patience", self.patience) < 1:
            raise ValueError(f"EarlyStop: patience is {self.patience}: at least 1 epoch is needed")
        if not isinstance(self.monitor, str):
            raise TypeError(f"EarlyStop: monitor is {self.monitor!r}: a name such as 'validation loss' is needed")
        if not isinstance(self.minimum_change, (int, float)):
            raise TypeError(f"EarlyStop: minimum_change is {self.minimum_change!r}: a number is needed")
        if not (math.isfinite(self.minimum_change) and self.minimum_change >= 0):
            raise ValueError(
                f"EarlyStop: minimum_change is {self.minimum_change}: a finite number, 0 or more, is needed"
            )
        if self.mode not in ("min", "max"):
            raise ValueError(f"EarlyStop: mode is {self.mode!r}, not 'min' or 'max'")


@dataclass
class Watch:
    """The state of an `EarlyStop` during a run: the best value so far, and how long ago it was."""

    rule: EarlyStop
    best: float | None = None
    best_epoch: int = 0
    waited: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether the patience is used up."""
        return self.waited >= self.rule.patience

    def look(self, epoch: int, values: Mapping[str, float], model: nn.Module) -> None:
        """Take note of an epoch's values; keep the weights if they are the best.

        Raises:
            ValueError: the watched value is none that the epoch has.
        """
        if self.rule.monitor not in values:
            known = ", ".join(repr(name) for name in values)
            raise ValueError(f"EarlyStop: monitor is {self.rule.monitor!r}, but an epoch has {known}")
        value = values[self.rule.monitor]
        if self._is_better(value):
            self.best, self.best_epoch, self.waited = value, epoch, 0
            if self.rule.restore_best:
                self.best_weights = {
                    name: one.detach().clone() if isinstance(one, Tensor) else one
                    for name, one in model.state_dict().items()
                }
        else:
            self.waited += 1

    def _is_better(self, value: float) -> bool:
        # NaN is never better, and anything else is better than nothing.
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        gained = self.best - value if self.rule.mode == "min" else value - self.best
        return gained > self.rule.minimum_change

    def restore(self, model: nn.Module) -> None:
        """Give the model the weights of the best epoch, if they were kept."""
        if self.best_weights:
            model.load_state_dict(self.best_weights)

    def state(self) -> dict[str, Any]:
        """As plain data, for a checkpoint."""
        return {
            "monitor": self.rule.monitor,
            "mode": self.rule.mode,
            "best": self.best,
            "best_epoch": self.best_epoch,
            "waited": self.waited,
            "best_weights": self.best_weights,
        }

    def problems(self, state: object, model: nn.Module) -> list[str]:
        """Why a state could not be loaded; nothing is changed."""
        if not isinstance(state, Mapping) or set(state) != set(self.state()):
            return ["early stop: the file has no state of one"]
        found = [
            f"early stop: {name} is {state[name]!r} in the file, {now!r} here"
            for name, now in (("monitor", self.rule.monitor), ("mode", self.rule.mode))
            if state[name] != now
        ]
        if state["best_weights"]:
            found += [f"best weights: {problem}" for problem in model_problems(model, state["best_weights"])]
        return found

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a state without problems."""
        self.best, self.best_epoch, self.waited = state["best"], state["best_epoch"], state["waited"]
        self.best_weights = dict(state["best_weights"]) if self.rule.restore_best else {}
