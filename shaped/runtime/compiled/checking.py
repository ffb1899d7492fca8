"""Holding what was compiled to eager, before it is used.

The program itself is run by torch's own kernels, and has to give what eager gives: the same numbers, to the bit, in
results, parameters, gradients, moments and counts, over several calls. A backend with kernels of its own is then held
to the program: every number has to be as near to the true one as rounding explains (`rounding`). No tolerance is
chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.program import CannotCompile, Program, Run
from shaped.runtime.compiled.rounding import Bounded, NotBounded, compare, evaluate
from shaped.runtime.compiled.trial import contents, tensors_kept


@dataclass(frozen=True)
class Expected:
    """What eager gives.

    Args:
        outputs: its results.
        held: what the tensors that stay contain afterwards.
    """

    outputs: Sequence[Tensor]
    held: Mapping[fx.Node, Tensor]


@dataclass(frozen=True)
class Trials:
    """The calls that a program is tried out with, one after the other.

    Args:
        inputs: the inputs of each.
        scalars: gives the scalars of the next call; its argument is the number of the call, from 1.
        expected: what eager gives, call by call.
    """

    inputs: Sequence[Sequence[Tensor]]
    scalars: Callable[[int], Sequence[float]]
    expected: Sequence[Expected]


class CheckFailed(CannotCompile):
    """Compiled code gives other numbers than eager: which, and by how much."""


def check_exactly(run: Run, program: Program, trials: Trials) -> None:
    """Hold what runs a program to eager, to the bit.

    Raises:
        CheckFailed: a number differs.
    """
    with tensors_kept(list(program.held.values())):
        for number, (inputs, expected) in enumerate(zip(trials.inputs, trials.expected), start=1):
            outputs = run(*_copies(inputs), *trials.scalars(number))
            for place, (actual, wanted) in enumerate(zip(outputs, expected.outputs)):
                _require_equal(actual, wanted, f"call {number}: result {place}")
            for node, wanted in expected.held.items():
                _require_equal(program.held[node], wanted, f"call {number}: {node.name}")


def check_within_budget(run: Run, program: Program, trials: Trials) -> float:
    """Hold what runs a program to the true numbers: what rounding explains, and nothing more.

    Each call begins with what the one before left, so an error that grows is seen where it is made.

    Returns:
        The greatest ratio of an error to what rounding explains; at most 1.

    Raises:
        CheckFailed: a number is farther off.
        CannotCompile: an operation has no error bound, so nothing can be held to it.
    """
    worst = 0.0
    with tensors_kept(list(program.held.values())):
        for number, inputs in enumerate(trials.inputs, start=1):
            scalars = trials.scalars(number)
            before = contents(program.held)
            values: dict[fx.Node, Tensor | float] = {**before, **dict(zip(program.inputs, inputs))}
            values |= dict(zip(program.scalars, scalars))
            try:
                true = evaluate(program, values)
            except NotBounded as error:
                raise CannotCompile(f"it cannot be checked: {error}") from error
            outputs = run(*_copies(inputs), *scalars)
            pairs = [(f"result {place}", *pair) for place, pair in enumerate(zip(outputs, true.outputs))]
            pairs += [(node.name, program.held[node], bounded) for node, bounded in true.held.items()]
            for name, actual, bounded in pairs:
                worst = max(worst, _held_to(actual, bounded, f"call {number}: {name}"))
    return worst


def _held_to(actual: Tensor, bounded: Bounded, name: str) -> float:
    if actual.shape != bounded.value.shape:
        raise CheckFailed(f"{name} has the shape {tuple(actual.shape)}, not {tuple(bounded.value.shape)}")
    budget = compare(actual, bounded, name)
    if budget.rho > 1:
        raise CheckFailed(str(budget))
    return budget.rho


def _require_equal(actual: Tensor, wanted: Tensor, name: str) -> None:
    """Whether two tensors have the same numbers, NaN being equal to itself."""
    if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
        raise CheckFailed(
            f"{name} is {actual.dtype} {tuple(actual.shape)}, in eager {wanted.dtype} {tuple(wanted.shape)}"
        )
    same = (actual == wanted) | ((actual != actual) & (wanted != wanted))
    if not bool(same.all()):
        at = tuple((~same).nonzero()[0].tolist())
        entry = f"{name}[{', '.join(map(str, at))}]" if at else name
        count = int((~same).sum())
        raise CheckFailed(f"{entry} is {actual[at].item()!r}, in eager {wanted[at].item()!r} ({count} entries differ)")


def _copies(inputs: Sequence[Tensor]) -> list[Tensor]:
    """Inputs that a call may write to."""
    with torch.no_grad():
        return [one.detach().clone(memory_format=torch.preserve_format) for one in inputs]
