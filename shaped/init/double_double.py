"""Sums of two float64 that carry 106 bits, on tensors, by IEEE additions and multiplications only."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class DoubleDouble(NamedTuple):
    """The number `high + low`, `high` the float64 nearest to it."""

    high: Tensor
    low: Tensor


def two_sum(a: Tensor, b: Tensor) -> DoubleDouble:
    """`a + b`, exactly.

    Source: Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
    """
    total = a + b
    rest = total - a
    return DoubleDouble(total, (a - (total - rest)) + (b - rest))


def fast_two_sum(a: Tensor, b: Tensor) -> DoubleDouble:
    """`a + b`, exactly, where |a| >= |b| or a is 0.

    Source: Dekker, "A floating-point technique for extending the available precision" (1971).
    """
    total = a + b
    return DoubleDouble(total, b - (total - a))


def leading_bits(x: Tensor, bits: int) -> Tensor:
    """`x` cut off after its first `bits` bits, so that `x - leading_bits(x, bits)` is exact and has 53 - bits bits."""
    kept: Tensor = x.view(torch.int64) & -(2 ** (53 - bits))
    return kept.view(torch.float64)


def correctly_rounded(
    approximation: DoubleDouble, relative_error: float, arguments: Tensor, exact: Callable[[float], float]
) -> Tensor:
    """The float64 nearest to the numbers that are approximated.

    Where the numbers within the error round to more than one float64, `exact` computes it from the argument.
    """
    high, low = approximation
    error = high.abs() * relative_error
    least, most = high + (low - error), high + (low + error)
    if not torch.equal(least, most):
        positions = (least != most).nonzero().flatten()
        values = [exact(argument) for argument in arguments[positions].tolist()]
        least[positions] = torch.tensor(values, dtype=torch.float64, device=least.device)
    return least
