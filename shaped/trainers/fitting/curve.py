"""The curve of a run: loss and metrics over the epochs, drawn by matplotlib."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shaped.runtime.atomic import replacing, require_writable
from shaped.trainers.fitting.extras import require_extra

if TYPE_CHECKING:
    from shaped.trainers.fitting.history import History

# Apart for colour-blind readers too (Okabe and Ito's palette).
COLOURS = {"training": "#0072b2", "validation": "#d55e00"}


def require_matplotlib() -> None:
    """Have matplotlib, or say how to get it."""
    require_extra("matplotlib", "a curve of the loss")


def require_drawable(path: str | os.PathLike[str]) -> None:
    """Refuse a picture that could not be drawn, before anything is measured.

    Raises:
        ImportError: matplotlib is not installed.
        OSError: there can be no file at `path`.
        ValueError: it does not draw the format that the name's ending says.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if (ending := _format(path)) not in (known := FigureCanvasAgg.get_supported_filetypes()):
        raise ValueError(f"curve: {os.fspath(path)} ends in .{ending}, which is none of {', '.join(sorted(known))}")
    require_writable(path, "curve")


def _format(path: str | os.PathLike[str]) -> str:
    """The format of a picture by its name's ending; PNG without one."""
    return Path(path).suffix[1:].lower() or "png"


def draw(history: History, path: str | os.PathLike[str]) -> None:
    """Draw a history into a file, whole or not at all.

    The figure is drawn without pyplot: the caller's backend and open figures stay as they are.

    Raises:
        ImportError: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    quantities = list(dict.fromkeys(name.partition(" ")[2] for name in history.names)) or ["loss"]
    figure = Figure(figsize=(6.4, 3.2 * len(quantities)), layout="constrained")
    FigureCanvasAgg(figure)
    all_axes = figure.subplots(len(quantities), 1, sharex=True, squeeze=False)[:, 0]
    numbers = [epoch.number for epoch in history]
    for axes, quantity in zip(all_axes, quantities):
        for part, colour in COLOURS.items():
            if (name := f"{part} {quantity}") in history.names:
                # A marker for each epoch: a line through one point cannot be seen.
                axes.plot(numbers, history[name], color=colour, label=part, marker="o", markersize=3)
        axes.set_ylabel(quantity)
        axes.grid(alpha=0.3)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if axes.lines:
            axes.legend()
    all_axes[-1].set_xlabel("epoch")
    with replacing(path) as new:
        figure.savefig(new, format=_format(path))


class Curve:
    """The picture of a history that grows.

    Drawing takes a tenth of a second or two: where epochs are shorter it is left out so often that it takes no more
    than a tenth of the time. The last epochs are drawn in the end.
    """

    def __init__(self, path: str | os.PathLike[str], history: History) -> None:
        self._path = path
        self._history = history
        self._drawn = len(history)
        self._not_before = 0.0

    def update(self) -> None:
        """The history has grown."""
        began = time.perf_counter()
        if began < self._not_before:
            return
        draw(self._history, self._path)
        self._drawn = len(self._history)
        ended = time.perf_counter()
        self._not_before = ended + 9 * (ended - began)

    def close(self) -> None:
        """Draw what is not drawn yet."""
        if self._drawn < len(self._history):
            draw(self._history, self._path)
            self._drawn = len(self._history)
