"""Finite differences that confirm a rejection: the true derivative of one entry, with an estimate of its error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.verify.exact.trace import Function

_RATIO = 1.6
_COLUMNS = 10
_STEPS = (0.1, 0.01, 0.001, 1e-4)  # first steps, of the size of the input
_SAFETY = 10.0


@dataclass(frozen=True)
class Estimate:
    """A number and how far it may be off."""

    value: float
    error: float


def ridders(function: Callable[[float], float], step: float, rounding: float) -> Estimate:
    """The derivative at 0, by central differences extrapolated to a step of 0 (Ridders 1982).

    Args:
        function: of one number.
        step: the first step.
        rounding: the error of a value of the function.

    Returns:
        The estimate of least error, that of the rounding included.
    """
    previous: list[float] = []
    best = Estimate(math.nan, math.inf)
    for column in range(_COLUMNS):
        noise = rounding / step
        current = [(function(step) - function(-step)) / (2 * step)]
        factor = _RATIO**2
        for k in range(column):
            current.append((current[k] * factor - previous[k]) / (factor - 1))
            factor *= _RATIO**2
            change = max(abs(current[-1] - current[k]), abs(current[-1] - previous[k])) + noise
            if change <= best.error:
                best = Estimate(current[-1], change)
        previous = current
        step /= _RATIO
    return best


def true_derivative(
    function: Callable[[Sequence[Tensor]], list[Tensor]],
    inputs: Sequence[Tensor],
    upstreams: Sequence[Tensor],
    which: int,
    entry: int,
) -> Estimate | None:
    """The derivative of `<upstreams, function(inputs)>` by one entry of one input.

    Args:
        function: gives the results.
        inputs: its arguments.
        upstreams: weights of its results.
        which: the input.
        entry: the place in the flattened input.

    Returns:
        The estimate; None where estimates from several steps contradict each other, as they do next to a kink.
    """
    size = float(inputs[which].abs().max())

    def terms(change: float) -> list[float]:
        moved = [one.detach().clone(memory_format=torch.contiguous_format) for one in inputs]
        moved[which].view(-1)[entry] += change
        with torch.no_grad():
            results = function(moved)
        return [
            float(term)
            for one, upstream in zip(results, upstreams)
            for term in (one.double() * upstream.double()).reshape(-1)
        ]

    rounding = torch.finfo(inputs[which].dtype).eps * math.fsum(abs(term) for term in terms(0.0))
    if not math.isfinite(rounding):
        return None
    attempts = [ridders(lambda change: math.fsum(terms(change)), start * (size or 1.0), rounding) for start in _STEPS]
    best, second, *_ = sorted(attempts, key=lambda one: one.error)
    if not math.isfinite(best.error) or not abs(best.value - second.value) <= _SAFETY * (best.error + second.error):
        return None
    return Estimate(best.value, best.error + abs(best.value - second.value))


def computed_derivative(
    gradient: Function, inputs: Sequence[Tensor], which: int, entry: int, generator: torch.Generator
) -> Estimate:
    """One entry of a gradient as floats give it, with how much it changes when the inputs change in their last digits.

    Args:
        gradient: of the inputs, that of the input in question.
        inputs: where.
        which: the input.
        entry: the place in the flattened gradient.
        generator: draws the changes.
    """
    eps = torch.finfo(inputs[which].dtype).eps

    def at(scale: float) -> float:
        moved = [one * (1 + scale * torch.randn(one.shape, generator=generator, dtype=one.dtype)) for one in inputs]
        found = gradient(moved)
        return 0.0 if found is None else float(found.reshape(-1)[entry])

    value = at(0.0)
    spread = max(abs(at(4 * eps) - value) for _ in range(3))
    return Estimate(value, _SAFETY * spread + 100 * eps * abs(value))


def contradict(true: Estimate, computed: Estimate) -> bool:
    """Whether a computed derivative is certainly another number than the true one."""
    return abs(true.value - computed.value) > _SAFETY * (true.error + computed.error)
