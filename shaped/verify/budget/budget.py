"""Comparing what a kernel returned with true values, in units of what rounding explains."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from shaped.spec.scalars.system import Reason
from shaped.verify.budget.enclosure import format_of, given, with_error_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.atoms import Symbol
    from shaped.spec.evaluation import Evaluated
    from shaped.spec.expr import Expr
    from shaped.spec.index import Index
    from shaped.spec.scalars.running_error import Format


@dataclass
class Budget:
    """How far a result is from the true one.

    Args:
        rho: the greatest `|actual - exact| / bound`; at most 1 for every sound kernel.
        at: the entry with this ratio.
        actual: what was returned there.
        exact: the true value there, to the digits of a float.
        bound: what rounding explains there.
        compared: how many entries have a true value and a bound.
        unbounded: how many entries were left out since rounding may change them without limit (`1/x` near 0).
        skipped: how many entries were left out since the reference has no value there, by the reason.
        name: what was compared, for the message.
    """

    rho: float = 0.0
    at: tuple[int, ...] = ()
    actual: float = math.nan
    exact: float = math.nan
    bound: float = math.nan
    compared: int = 0
    unbounded: int = 0
    skipped: Counter[Reason] = field(default_factory=Counter)
    name: str = "the result"

    @property
    def ok(self) -> bool:
        """Whether something was compared and rounding explains every difference."""
        return self.compared > 0 and self.rho <= 1

    def __str__(self) -> str:
        if not self.compared:
            reasons = [f"{reason.text} ({count})" for reason, count in self.skipped.most_common()]
            reasons += [f"rounding may change {self.unbounded} entries without limit"] if self.unbounded else []
            return f"nothing of {self.name} was compared: {', '.join(reasons) or 'it has no entries'}"
        entry = f"{self.name}[{', '.join(map(str, self.at))}]" if self.at else self.name
        if self.rho <= 1:
            return (
                f"{self.name}: at most {self.rho:.2g} of the error that rounding explains, in {self.compared} entries"
            )
        return (
            f"{entry} is {self.actual!r}, and exactly {self.exact!r}: {abs(self.actual - self.exact):.2g} off,"
            f" where rounding explains {self.bound:.2g}"
        )


def rho(
    actual: torch.Tensor,
    expr: Expr,
    indices: Sequence[Index],
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
    *,
    name: str = "the result",
) -> Budget:
    """Compare a tensor with an expression, in units of the error that rounding explains.

    Args:
        actual: what a kernel returned.
        expr: what it should be.
        indices: the indices of the expression; merged axes have several, major first.
        sizes: the value of each named size.
        values: the inputs, by name.
        name: what is compared, for the message.

    Raises:
        ValueError: the number of entries differs.
        TypeError: the dtype has no error bound.
    """
    return compare(actual, with_error_bounds(expr, indices, sizes, values, actual.dtype), name=name)


def compare(actual: torch.Tensor, exact: Evaluated, *, name: str = "the result") -> Budget:
    """Compare a tensor with values that have error bounds, entry by entry in the order of the axes.

    A NaN, and an infinity where the true value is none, is a difference of infinite size; so is a value below infinity
    where the true one is infinite. What the true value overflows to is an infinity. Where the dtype of the tensor is
    narrower than the format of the bounds, its rounding is added.

    Raises:
        ValueError: the number of entries differs.
    """
    if actual.numel() != exact.data.size:
        raise ValueError(f"{name} has the shape {tuple(actual.shape)}, but {exact.data.size} entries are expected")
    values = given(actual).reshape(-1)
    result = Budget(name=name)
    to = format_of(actual.dtype)
    largest = torch.finfo(actual.dtype).max
    for flat, (true, reason) in enumerate(zip(exact.data.reshape(-1), exact.reasons.reshape(-1))):
        if reason:
            result.skipped[Reason(int(reason))] += 1
            continue
        value = float(values[flat])
        ratio, center, bound = _ratio(value, true, to, largest)
        if math.isinf(bound):
            result.unbounded += 1
            continue
        result.compared += 1
        if ratio > result.rho or result.compared == 1:
            at = tuple(int(place) for place in np.unravel_index(flat, tuple(actual.shape))) if actual.ndim else ()
            result.rho, result.at, result.actual, result.exact, result.bound = ratio, at, value, center, bound
    return result


def _ratio(actual: float, true: Any, to: Format, largest: float) -> tuple[float, float, float]:
    """The difference in units of the bound, the true value as a float, and the bound."""
    if isinstance(true, float):  # an infinity
        return (0.0 if actual == true else math.inf), true, 0.0
    center, bound = float(true.exact.mid()), true.bound
    if to.unit > true.format.unit:  # computed in a wider format, and rounded to this one
        bound += to.unit * (abs(center) + bound) + to.least_normal
    if not math.isfinite(actual):
        # Rounding to the format overflows from here on.
        overflows = not math.isnan(actual) and math.copysign(1.0, actual) * center + bound >= largest
        return (0.0 if overflows else math.inf), center, bound
    difference = float((true.exact - actual).abs_upper())
    if difference == 0:
        return 0.0, center, bound
    return (difference / bound if bound else math.inf), center, bound
