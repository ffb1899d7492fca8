"""Commands timed as whole processes, and tables of the figures."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Timing:
    """The least time of several runs, in seconds: on the clock, and of processors (steadier on a busy machine)."""

    wall: float
    processor: float


def time_command(
    command: Sequence[str],
    *,
    repeat: int,
    folder: Path | None = None,
    prepare: Callable[[], object] = lambda: None,
    allowed: Iterable[int] = (0,),
) -> Timing:
    """The time of a command from its start to its end.

    Args:
        command: the program and its arguments.
        repeat: how often it is run.
        folder: where it is run.
        prepare: called before each run, outside of its time.
        allowed: the exit statuses that mean success.

    Raises:
        RuntimeError: a run failed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    timings = []
    for _ in range(repeat):
        prepare()
        before, start = _used(), time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        wall, used = time.perf_counter() - start, _used() - before
        if done.returncode not in allowed:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        timings.append(Timing(wall, used))
    return Timing(min(one.wall for one in timings), min(one.processor for one in timings))


def _used() -> float:
    """The processor seconds of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def python(*arguments: str) -> list[str]:
    """A command line for this Python."""
    return [sys.executable, *arguments]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in plain text, numbers to the right.

    >>> print(table(["lines", "seconds"], [[500, 0.25]]))
    lines  seconds
      500     0.25
    """
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    is_text = [not any(character.isdigit() for character in cell) for cell in (cells[1] if len(cells) > 1 else head)]
    lines = []
    for row in cells:
        parts = (
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, is_text, strict=True)
        )
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)
