"""Finite differences that confirm a rejection: the true derivative of one entry, with an estimate of its error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact.trace import floating

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.verify.exact.trace import Function

_RATIO = 1.6
_COLUMNS = 10


def ridders(function: Callable[[float], float], step: float) -> tuple[float, float]:
    """The derivative at 0, by central differences extrapolated to a step of 0.

    Args:
        function: of one number.
        step: the first step.

    Returns:
        The derivative, and an estimate of its error (Ridders 1982).
    """
    previous: list[float] = []
    best, error = math.nan, math.inf
    for column in range(_COLUMNS):
        current = [(function(step) - function(-step)) / (2 * step)]
        factor = _RATIO**2
        for k in range(column):
            current.append((current[k] * factor - previous[k]) / (factor - 1))
            factor *= _RATIO**2
            change = max(abs(current[-1] - current[k]), abs(current[-1] - previous[k]))
            if change <= error:
                best, error = current[-1], change
        if column and abs(current[-1] - previous[-1]) >= 2 * error:
            break
        previous = current
        step /= _RATIO
    return best, error


def true_derivative(
    function: Function, inputs: Sequence[Tensor], upstreams: Sequence[Tensor], which: int, entry: int
) -> tuple[float, float]:
    """The derivative of `<upstreams, function(inputs)>` by one entry of one input, with an estimate of its error.

    Args:
        function: of floating tensors.
        inputs: its arguments.
        upstreams: weights of its results.
        which: the input.
        entry: the place in the flattened input.
    """
    size = abs(float(inputs[which].reshape(-1)[entry]))

    def at(change: float) -> float:
        moved = [one.detach().clone() for one in inputs]
        moved[which].view(-1)[entry] += change
        with torch.no_grad():
            results = floating(function(*moved))
        return math.fsum(float((one.double() * upstream.double()).sum()) for one, upstream in zip(results, upstreams))

    rounding = torch.finfo(inputs[which].dtype).eps
    attempts = [ridders(at, start * max(size, 1e-3)) for start in (0.3, 0.03, 0.003)]
    derivative, error = min(attempts, key=lambda pair: pair[1])
    # The function's own rounding, which differences of neighbours do not always show.
    return derivative, error + 1e3 * rounding * abs(derivative)
