"""Pairs of a wrong and a right backward: the wrong one is refused, the right one is not.

`cases` holds reports of real bugs with their sources, `cases_own` has more of each kind.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from shaped.verify.files import load_module
from shaped.verify.hazards import float_hazards, numeric_refutation
from shaped.verify.subject import Subject
from shaped.verify.verdict import Level, Verdict

FOLDERS = (Path(__file__).parent / "cases", Path(__file__).parent / "cases_own")
FILES = sorted(file for folder in FOLDERS for file in folder.glob("*.py"))
# One of each sort for the fast tier: a pair, singular points, integers, a mask, complex numbers, a class.
QUICK = ("004_", "024_", "025_", "038_", "029_", "050_", "051_", "053_", "once_differentiable")


def arguments(case: Any, form: str) -> tuple[Any, Any]:
    """A forward and its backward, or a class and None."""
    if hasattr(case, "Wrong"):
        return getattr(case, form.capitalize()), None
    return case.forward, getattr(case, f"{form}_backward")


def domain(case: Any) -> Any:
    """What has to be declared for the right form: a product divided by its factors is a gradient off zero only."""
    return (lambda x: bool((x != 0).all())) if "002_" in case.__name__ else None


def surrogate(case: Any) -> Any:
    """The function whose gradient is meant, for straight-through estimators."""
    if "045_" in case.__name__:
        return lambda x: torch.where((x < case.LOW) | (x > case.HIGH), case.LEAK * x, x)
    return getattr(case, "surrogate", None)


def refutation(case: Any, form: str) -> Verdict | None:
    subject = Subject.of(*arguments(case, form), gradient_of=surrogate(case))
    return numeric_refutation(subject, domain=domain(case))


def hazard(case: Any, form: str, *inputs: object) -> Verdict | None:
    found = float_hazards(*arguments(case, form), *inputs, domain=domain(case), gradient_of=surrogate(case))
    return found if found.level in (Level.HAZARD, Level.REFUTED) else None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_wrong_backward_is_refused_with_its_inputs(file: Path) -> None:
    case = load_module(file)
    found = refutation(case, "wrong")
    found = hazard(case, "wrong") if found is None else found
    assert found is not None
    assert found.witness is not None
    assert found.reason


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_right_backward_is_not_refuted(file: Path) -> None:
    assert refutation(load_module(file), "right") is None


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=() if file.stem.startswith(QUICK) else pytest.mark.slow, id=file.stem) for file in FILES],
)
def test_a_right_backward_has_no_hazard(file: Path) -> None:
    assert hazard(load_module(file), "right") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", [file for file in FILES if "def inputs" in file.read_text()], ids=lambda file: file.stem
)
def test_the_inputs_of_the_report_show_the_fault_alone(file: Path) -> None:
    case = load_module(file)
    subject = Subject.of(*arguments(case, "wrong"), gradient_of=surrogate(case))
    refuted = numeric_refutation(subject, *case.inputs(), domain=domain(case)) is not None
    assert refuted or hazard(case, "wrong", *case.inputs()) is not None
    assert hazard(case, "right", *case.inputs()) is None
