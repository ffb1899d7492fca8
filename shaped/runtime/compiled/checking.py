"""Holding what was compiled to eager, before it is used.

The program itself is run by torch's own kernels, and has to give what eager gives: the same numbers, to the bit, in
results, parameters, gradients, moments and counts, over several calls. Where eager has a kernel of its own for many
operations at once (a whole LSTM, a transformer's layer in evaluation mode), its numbers have to be as near to the true
ones as rounding explains (`rounding`). So have those of a backend with kernels of its own. No tolerance is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.program import CannotCompile, Program, Run
from shaped.runtime.compiled.rounding import Bounded, Evaluated, NotBounded, compare, evaluate
from shaped.runtime.compiled.trial import contents, copies, tensors_kept


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
            outputs = run(*copies(inputs), *trials.scalars(number))
            for place, (actual, wanted) in enumerate(zip(outputs, expected.outputs)):
                _require_equal(actual, wanted, f"call {number}: result {place}")
            for node, wanted in expected.held.items():
                _require_equal(program.held[node], wanted, f"call {number}: {node.name}")


def check_eager_within_budget(program: Program, trials: Trials) -> None:
    """Hold what eager gave to the true numbers of a program that it does not run operation by operation.

    Raises:
        CheckFailed: a number is farther off than rounding explains: the program does something else.
        CannotCompile: an operation has no error bound, so nothing can be held to it.
    """
    before = contents(program.held)
    for number, (inputs, expected) in enumerate(zip(trials.inputs, trials.expected), start=1):
        with tensors_kept(list(program.held.values())):
            _fill(program.held, before)  # the scalars depend on the count of steps
            true = _true(program, before, inputs, trials.scalars(number))
        pairs = [(f"result {place}", *pair) for place, pair in enumerate(zip(expected.outputs, true.outputs))]
        pairs += [(node.name, actual, true.held[node]) for node, actual in expected.held.items()]
        for name, actual, bounded in pairs:
            _held_to(actual, bounded, f"call {number}: {name}")
        before = {**before, **expected.held}


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
            true = _true(program, before, inputs, scalars)
            outputs = run(*copies(inputs), *scalars)
            pairs = [(f"result {place}", *pair) for place, pair in enumerate(zip(outputs, true.outputs))]
            pairs += [(node.name, program.held[node], bounded) for node, bounded in true.held.items()]
            for name, actual, bounded in pairs:
                worst = max(worst, _held_to(actual, bounded, f"call {number}: {name}"))
    return worst


def _true(
    program: Program, held: Mapping[fx.Node, Tensor], inputs: Sequence[Tensor], scalars: Sequence[float]
) -> Evaluated:
    """What a call gives without rounding, with bounds on what rounding may change."""
    values: dict[fx.Node, Tensor | float] = {**held, **dict(zip(program.inputs, inputs))}
    values |= dict(zip(program.scalars, scalars))
    try:
        return evaluate(program, values)
    except NotBounded as error:
        raise CannotCompile(f"it cannot be checked: {error}") from error


def _fill(held: Mapping[fx.Node, Tensor], values: Mapping[fx.Node, Tensor]) -> None:
    with torch.no_grad():
        for node, tensor in held.items():
            tensor.copy_(values[node])


def _held_to(actual: Tensor, bounded: Bounded, name: str) -> float:
    if actual.shape != bounded.value.shape:
        raise CheckFailed(f"{name} has the shape {tuple(actual.shape)}, not {tuple(bounded.value.shape)}")
    budget = compare(actual, bounded, name)
    if budget.rho > 1:
        raise CheckFailed(str(budget))
    if not budget.compared and actual.numel():
        raise CannotCompile(f"it cannot be checked: {budget}")
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
