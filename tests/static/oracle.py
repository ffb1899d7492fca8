"""The same program run by Python and read by the checker: what the checker says of a shape has to be so.

A program is source text that calls `reveal_shape` on tensors. `revealed` gives what the checker notes; `agree` also
runs the program with the real torch and holds the two against each other.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import torch

import shaped
from shaped.static.check import Checker
from shaped.static.report import Report

_NOTE = re.compile(r'Revealed shape is "(.*)"')
FILE = Path("nowhere") / "program.py"  # of no project, so that it imports libraries only
PRELUDE = "import torch\nfrom torch import nn\nfrom shaped import reveal_shape\n"


def check(source: str) -> Report:
    """The checker's report on a program; a fault of the checker itself is raised."""
    return Checker(show_traceback=True).check(FILE, program(source))


def program(source: str) -> str:
    """The program's text: the usual imports, then `source` without its indentation."""
    return PRELUDE + textwrap.dedent(source)


def notes(report: Report) -> list[tuple[int, str]]:
    """The lines and shapes that a report reveals."""
    found = []
    for diagnostic in report.diagnostics:
        match = _NOTE.fullmatch(diagnostic.message)
        if match:
            found.append((diagnostic.span.line, match.group(1)))
    return found


def revealed(source: str) -> list[str]:
    """The shapes that the checker reveals, in the order of their lines; the program has no errors."""
    report = check(source)
    assert errors(report) == []
    return [shape for _, shape in notes(report)]


def errors(report: Report) -> list[str]:
    """The errors of a report, with their lines."""
    return [f"{one.span.line}: {one.message}" for one in report.diagnostics if one.code != "reveal"]


def run(source: str) -> list[tuple[int, tuple[int, ...]]]:
    """Run a program: the line and the true shape at each `reveal_shape`."""
    seen: list[tuple[int, tuple[int, ...]]] = []

    def record(value: torch.Tensor) -> torch.Tensor:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        seen.append((frame.f_back.f_lineno, tuple(value.shape)))
        return value

    original, shaped.reveal_shape = shaped.reveal_shape, record
    module = sys.modules["program"] = ModuleType("program")  # dataclasses look their module up
    try:
        exec(compile(program(source), "program.py", "exec"), vars(module))
    finally:
        shaped.reveal_shape = original
        del sys.modules["program"]
    return seen


def fits(said: str, actual: tuple[int, ...]) -> bool:
    """Whether a shape as the checker writes it may be `actual`: sizes equal, names of any size, the rank equal.

    >>> fits("b 3", (7, 3)), fits("b 3", (7, 4)), fits("... 3", (1, 2, 3))
    (True, False, True)
    """
    axes = said.split()
    packs = [i for i, axis in enumerate(axes) if axis == "..." or axis.startswith("*")]
    if packs:
        before, after = axes[: packs[0]], axes[packs[-1] + 1 :]
        if len(actual) < len(before) + len(after):
            return False
        pairs = [*zip(before, actual), *zip(reversed(after), reversed(actual))]
    elif len(axes) != len(actual):
        return False
    else:
        pairs = list(zip(axes, actual))
    return all(not axis.isdecimal() or int(axis) == size for axis, size in pairs)


def disagreements(source: str) -> list[str]:
    """Where the checker is wrong about a program: errors that do not happen, shapes that are others."""
    actual, report = run(source), check(source)
    said: dict[int, list[str]] = {}
    for line, shape in notes(report):
        said.setdefault(line, []).append(shape)
    wrong = errors(report)
    lines = program(source).splitlines()
    for line, shape in actual:
        if not any(fits(one, shape) for one in said.get(line, [])):
            wrong.append(f"{line}: {lines[line - 1].strip()}: {said.get(line)} but it is {shape}")
    for line, shapes in said.items():
        true = [shape for at, shape in actual if at == line]
        wrong += [
            f"{line}: {lines[line - 1].strip()}: {one!r} but it is {true}"
            for one in shapes
            if true and not any(fits(one, shape) for shape in true)
        ]
    return wrong


def agree(source: str) -> list[str]:
    """The shapes that the checker reveals of a program that runs, each held against the true one."""
    assert disagreements(source) == []
    return [shape for _, shape in notes(check(source))]
