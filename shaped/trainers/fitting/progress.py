"""What a run shows while it runs: a bar in a terminal, a line for each epoch elsewhere, or nothing.

All of it goes to the standard error stream: the output of a program is its results.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Protocol

from shaped.trainers.fitting.history import Epoch


class Progress(Protocol):
    """What is told of a run as it goes."""

    def begin(self, number: int, epochs: int, batches: int | None) -> None:
        """An epoch begins; `batches` is None where their number is not known."""

    def batch(self, mean_loss: float) -> None:
        """A batch was trained on; the mean loss of the epoch so far."""

    def end(self, epoch: Epoch, epochs: int) -> None:
        """An epoch is over."""

    def close(self) -> None:
        """The run is over, or was broken off in an epoch."""


class Silent:
    """Shows nothing."""

    def begin(self, number: int, epochs: int, batches: int | None) -> None:
        pass

    def batch(self, mean_loss: float) -> None:
        pass

    def end(self, epoch: Epoch, epochs: int) -> None:
        pass

    def close(self) -> None:
        pass


class Lines(Silent):
    """A line for each epoch."""

    def end(self, epoch: Epoch, epochs: int) -> None:
        print(_line(epoch, epochs), file=sys.stderr, flush=True)


class Bar:
    """A bar over the batches of an epoch, which gives way to the epoch's line."""

    def __init__(self) -> None:
        self._tqdm: Any = import_module("tqdm").tqdm
        self._bar: Any = None

    def begin(self, number: int, epochs: int, batches: int | None) -> None:
        self._bar = self._tqdm(
            total=batches,
            desc=f"epoch {number}/{epochs}",
            unit="batch",
            leave=False,
            dynamic_ncols=True,
            file=sys.stderr,
        )

    def batch(self, mean_loss: float) -> None:
        # Shown with the next refresh of the bar, not at once: a terminal is slower than a small model.
        self._bar.set_postfix_str(f"training loss {mean_loss:.4g}", refresh=False)
        self._bar.update()

    def end(self, epoch: Epoch, epochs: int) -> None:
        self.close()
        self._tqdm.write(_line(epoch, epochs), file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def choose(is_wanted: bool) -> Progress:
    """A bar where the standard error stream is a terminal and tqdm is installed, else lines; nothing if not wanted."""
    if not is_wanted:
        return Silent()
    if not sys.stderr.isatty():
        return Lines()
    try:
        return Bar()
    except ImportError:
        return Lines()


def _line(epoch: Epoch, epochs: int) -> str:
    return f"epoch {epoch.number}/{epochs}: {epoch}"
