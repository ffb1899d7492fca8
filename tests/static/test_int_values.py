"""Shapes that depend on the values of ints: the checker reports what torch refuses, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.static.check import Checker
from tests.static.int_values import indices, kernels, layers, numbers, rounds, sizes, slices
from tests.static.int_values.pair import Pair
from tests.static.oracle import FILE

PAIRS = [pair for table in (indices, kernels, layers, numbers, rounds, sizes, slices) for pair in table.PAIRS]

# Sizes for the names, no two alike, so that none fits by accident.
SIZES = ({"b": 2, "t": 5, "d": 4, "c": 3}, {"b": 7, "t": 6, "d": 3, "c": 2})
INTS: dict[Any, Any] = {int: 5, bool: True, list[int]: [3, 5]}


def arguments(function: Callable[..., object], sizes: dict[str, int]) -> dict[str, object]:
    """An argument for each parameter: tensors of these sizes, and some int for each int."""

    def one(annotation: Any) -> object:
        if annotation in INTS:
            return INTS[annotation]
        return torch.rand([int(word) if word.isdecimal() else sizes[word] for word in annotation.dim_str.split()])

    return {name: one(each.annotation) for name, each in inspect.signature(function).parameters.items()}


def runs(program: str) -> list[bool]:
    """Whether the function of a program runs, for each of SIZES."""
    names: dict[str, Any] = {}
    exec(compile(program, "program.py", "exec", dont_inherit=True), names)
    answers = []
    for one in SIZES:
        try:
            names["f"](**arguments(names["f"], one))
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):
            answers.append(False)
        else:
            answers.append(True)
    return answers


def errors(program: str) -> list[str]:
    """What the checker says is wrong."""
    report = Checker(show_traceback=True).check(FILE, program)
    return [each.message for each in report.diagnostics if each.severity == "error"]


def ids(pair: Pair) -> str:
    return pair.name.replace(" ", "_")


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_what_torch_refuses_is_reported(pair: Pair) -> None:
    program = pair.program(pair.bad)
    assert not any(runs(program))
    assert errors(program)


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_what_torch_runs_is_silent(pair: Pair) -> None:
    program = pair.program(pair.good)
    assert all(runs(program))
    assert errors(program) == []
