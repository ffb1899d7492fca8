"""Choosing what runs a program: backends are built, checked, and timed beside eager in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from shaped.runtime.compiled import straight_line
from shaped.runtime.compiled.backends import EAGER, Backend, backend
from shaped.runtime.compiled.checking import (
    CheckFailed,
    Trials,
    check_eager_within_budget,
    check_exactly,
    check_within_budget,
)
from shaped.runtime.compiled.program import CannotCompile, Program, Run
from shaped.runtime.compiled.report import Report
from shaped.runtime.compiled.trial import tensors_kept

_ROUNDS = 15
_SECONDS_A_ROUND = 0.004


def choose(
    program: Program, names: Sequence[str], trials: Trials, eager: Callable[[], object], report: Report
) -> Run | None:
    """What runs a program best, of the backends that pass the check; None where that is eager.

    Args:
        names: of the backends; of one alone nothing is timed.
        trials: to check them by.
        eager: one call of what is compiled, in eager.
        report: filled in.

    Raises:
        CannotCompile: the program is not what eager does, or the only backend cannot run it.
    """
    is_eagers = _is_eagers(program, trials)
    runs: dict[str, Run] = {}
    told: dict[str, str] = {}
    for name in names:
        if name == EAGER:
            continue
        try:
            runs[name], told[name] = _built(backend(name), program, trials, report, is_eagers=is_eagers)
        except CannotCompile as error:
            report.refused[name] = str(error)
            if len(names) == 1:
                raise
        except Exception as error:
            # A fault of a backend, ours or not, leaves the others.
            report.refused[name] = f"it failed: {type(error).__name__}: {error}"
            if len(names) == 1:
                raise
    chosen = next(iter(runs), EAGER)
    if len(names) > 1 and runs:
        report.microseconds = _timed(program, trials, runs, eager)
        chosen = min(report.microseconds, key=report.microseconds.__getitem__)
    report.backend, report.checked = chosen, told.get(chosen, "")
    return runs.get(chosen)


def _is_eagers(program: Program, trials: Trials) -> bool:
    """Whether eager runs the operations of the program one by one; else it computes the same in another way.

    Raises:
        CannotCompile: it computes something else, as far as can be told.
    """
    try:
        check_exactly(straight_line.build(program), program, trials)
    except CheckFailed as difference:
        try:
            check_eager_within_budget(program, trials)
        except CheckFailed:
            raise
        except CannotCompile as error:
            raise CheckFailed(f"{difference}; {error}") from error
        return False
    return True


def _built(one: Backend, program: Program, trials: Trials, report: Report, *, is_eagers: bool) -> tuple[Run, str]:
    reason = one.unavailable(program)
    if reason is not None:
        raise CannotCompile(reason)
    start = time.perf_counter()
    run = one.build(program)
    report.build_seconds[one.name] = time.perf_counter() - start
    if one.exact and is_eagers:
        check_exactly(run, program, trials)
        return run, "the same numbers as eager, to the bit"
    rho = check_within_budget(run, program, trials)
    return run, f"at most {rho:.2g} of the error that rounding explains"


def _timed(program: Program, trials: Trials, runs: Mapping[str, Run], eager: Callable[[], object]) -> dict[str, float]:
    """The median time of a call in microseconds: all take turns, so that a busy moment is everybody's."""
    inputs = trials.inputs[0]
    scalars = trials.scalars(1)
    calls: dict[str, Callable[[], Any]] = {
        name: (lambda run=run: run(*inputs, *scalars))  # type: ignore[misc]  # the loop's value of now
        for name, run in runs.items()
    }
    calls[EAGER] = eager
    times: dict[str, list[float]] = {name: [] for name in calls}
    with tensors_kept(list(program.held.values())):
        counts = {name: _calls_a_round(call) for name, call in calls.items()}
        for _ in range(_ROUNDS):
            for name, call in calls.items():
                start = time.perf_counter()
                for _ in range(counts[name]):
                    call()
                _finish(inputs)
                times[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(found) * 1e6 for name, found in times.items()}


def _calls_a_round(call: Callable[[], object]) -> int:
    call()
    start = time.perf_counter()
    call()
    return max(1, int(_SECONDS_A_ROUND / max(time.perf_counter() - start, 1e-7)))


def _finish(inputs: Sequence[torch.Tensor]) -> None:
    """Wait for the device."""
    if any(one.device.type == "cuda" for one in inputs):
        torch.cuda.synchronize()
