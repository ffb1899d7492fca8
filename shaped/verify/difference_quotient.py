"""Derivatives of a function of one number by difference quotients, with an estimate of their error.

Used only to confirm a fault: where a quotient does not settle, nothing is claimed. The extrapolation is Ridders'
(Advances in Engineering Software 4(2), 1982), as in Numerical Recipes, section 5.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_EPSILON = 2.0**-52
_SHRINK = 2.0  # each step is this much smaller than the one before
_STEPS = 10
_STARTS = (1.0, 1e-2, 1e-4)  # of the first step: a kink beside the point is passed by with a smaller one
_CHECKED = (1e-4, 1e-5)  # of the first step: quotients that must agree


@dataclass(frozen=True)
class Quotient:
    """A derivative and the error that is to be expected; NaN where the quotients do not settle."""

    value: float
    error: float

    @property
    def settled(self) -> bool:
        """Whether there is a derivative, known to at least four digits of the function's slope."""
        return self.error <= 1e-4 * max(1.0, abs(self.value))  # False for NaN


_UNKNOWN = Quotient(math.nan, math.inf)


def one_sided(function: Callable[[float], float], step: float = 0.1) -> Quotient:
    """The derivative at 0 towards the sign of `step`.

    >>> one_sided(abs).value, one_sided(abs, -0.1).value
    (1.0, -1.0)
    >>> import math
    >>> found = one_sided(math.exp)
    >>> abs(found.value - 1) <= found.error < 1e-8
    True
    """
    start = function(0.0)

    def quotient(h: float) -> float:
        return (function(h) - start) / h

    return _limit(quotient, step, _size(function, step))


def _size(function: Callable[[float], float], step: float) -> float:
    return max((abs(value) for value in (function(0.0), function(step)) if math.isfinite(value)), default=math.inf)


def _limit(quotient: Callable[[float], float], step: float, size: float) -> Quotient:
    """The limit of quotients as the step goes to 0, with the distance to what much smaller steps say as its error.

    Entries of one table may agree by chance, or by a symmetry of the function around another point.
    """
    for start in _STARTS:
        found = _extrapolated(quotient, step * start, size)
        others = [_of_two_steps(quotient, step * start * small) for small in _CHECKED]
        error = max([found.error, *(abs(found.value - other) for other in others)])
        if Quotient(found.value, error).settled:
            return Quotient(found.value, error)
    return _UNKNOWN


def _of_two_steps(quotient: Callable[[float], float], step: float) -> float:
    return 2 * quotient(step / 2) - quotient(step)


def _extrapolated(quotient: Callable[[float], float], step: float, size: float) -> Quotient:
    """The best entry of the table of Richardson's extrapolation."""
    best = _UNKNOWN
    previous: list[float] = []
    for i in range(_STEPS):
        h = step / _SHRINK**i
        row = [quotient(h)]
        if not math.isfinite(row[0]):
            previous = []
            continue
        # What rounding of the function's values makes of the quotient.
        rounding = 4 * _EPSILON * size / abs(h)
        factor = 1.0
        for j, above in enumerate(previous):
            factor *= _SHRINK
            row.append((row[j] * factor - above) / (factor - 1))
            error = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - above)) + rounding
            if error < best.error:
                best = Quotient(row[j + 1], error)
        previous = row
    return best
