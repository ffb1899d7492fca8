"""What runs a program: the fastest of those that pass the check."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from shaped.runtime import CannotCompile, compile_forward
from shaped.runtime.compiled import BACKENDS, CheckFailed, Report, straight_line
from shaped.runtime.compiled.program import Program, Run
from tests.runtime.compiled.training import perceptron

x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))


def slow(program: Program) -> Run:
    run = straight_line.build(program)

    def slowly(*given: Any) -> Any:
        time.sleep(0.003)
        return run(*given)

    return slowly


def wrong(program: Program) -> Run:
    run = straight_line.build(program)
    return lambda *given: tuple(one + 1e-3 for one in run(*given))


def faulty(program: Program) -> Run:
    raise ZeroDivisionError("a fault of its own")


def unable(program: Program) -> Run:
    raise CannotCompile("it has no such operation")


def add(patch: pytest.MonkeyPatch, name: str, build: Any, *, exact: bool = True) -> str:
    """One more backend, for a test."""
    module = SimpleNamespace(name=name, exact=exact, unavailable=lambda program: None, build=build)
    patch.setitem(sys.modules, f"backend_{name}", module)  # type: ignore[arg-type]  # what import_module gives
    patch.setitem(BACKENDS, name, f"backend_{name}")
    return name


def test_auto_takes_the_fastest() -> None:
    report = compile_forward(perceptron(4, 8, 1), (x,)).report
    assert report.backend == min(report.microseconds, key=report.microseconds.__getitem__)
    assert {"script", "python", "eager"} <= set(report.microseconds)


def test_a_slow_backend_is_measured_and_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "slow", slow)
    report = compile_forward(perceptron(4, 8, 1), (x,), backend=("slow", "python")).report
    assert report.microseconds["slow"] > 3000
    assert report.backend != "slow"


def test_eager_runs_what_is_slower_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "slow", slow)
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend=("slow", "eager"))
    assert compiled.backend == "eager"
    assert torch.equal(compiled(x), model(x))


@pytest.mark.parametrize(
    "build, reason",
    [
        (faulty, "it failed: ZeroDivisionError: a fault of its own"),
        (unable, "it has no such operation"),
        (wrong, "call 1: result 0"),
    ],
)
def test_what_fails_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch, build: Any, reason: str) -> None:
    add(monkeypatch, "bad", build)
    model = perceptron(4, 8, 1)
    compiled = compile_forward(model, (x,), backend=("bad", "python"))
    assert compiled.backend in ("python", "eager")
    assert reason in compiled.report.refused["bad"]
    assert "bad" not in compiled.report.microseconds
    assert torch.equal(compiled(x), model(x))


def test_eager_is_left_where_nothing_else_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "bad", wrong)
    add(monkeypatch, "worse", faulty)
    compiled = compile_forward(perceptron(4, 8, 1), (x,), backend=("bad", "worse"))
    assert compiled.backend == "eager"
    assert set(compiled.report.refused) == {"bad", "worse"}


@pytest.mark.parametrize("exact", [True, False])
def test_a_wrong_backend_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, exact: bool) -> None:
    add(monkeypatch, "bad", wrong, exact=exact)
    with pytest.raises(CheckFailed, match="call 1: result 0"):
        compile_forward(perceptron(4, 8, 1), (x,), backend="bad")


@pytest.mark.parametrize("build, error", [(faulty, ZeroDivisionError), (unable, CannotCompile)])
def test_the_only_backend_raises_what_it_failed_by(
    monkeypatch: pytest.MonkeyPatch, build: Any, error: type[Exception]
) -> None:
    add(monkeypatch, "bad", build)
    with pytest.raises(error):
        compile_forward(nn.Linear(4, 1), (x,), backend="bad")


def test_a_report_reads_as_text() -> None:
    report = Report("c", "checked so", {"script": "no reason"}, {"c": 0.5, "python": 0.25}, {"c": 2.0, "eager": 30.0})
    assert str(report).splitlines() == [
        "c: checked so",
        "  c: built in 0.50 s, 2.0 us a call",
        "  python: built in 0.25 s",
        "  eager: 30.0 us a call",
        "  not script: no reason",
    ]
    assert str(Report()) == "eager"
