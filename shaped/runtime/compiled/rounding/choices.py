"""Conditions on bounded numbers, and what is chosen by them."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, Number, neg, number, settled
from shaped.runtime.compiled.rounding.formats import Format, format_of


def chosen(condition: Bounded, then: Number, otherwise: Number, to: Format) -> Bounded:
    """`where(condition, then, otherwise)`; the bound covers both where rounding decides."""
    a, b = number(then, to), number(otherwise, to)
    value = torch.where(condition.value, a.value, b.value)
    bound = torch.where(condition.value, a.bound, b.bound)
    if not condition.is_exact:
        apart = (a.value - b.value).abs()
        # Where both are the same infinity they do not differ.
        apart = torch.where(a.value == b.value, 0.0, apart)
        both = apart + torch.where(condition.value, b.bound, a.bound)
        bound = torch.where(condition.bound > 0, torch.maximum(bound, both), bound)
    least = min(a.least, b.least)
    # What is chosen of two sums is the sum, or as large as that of the other branch.
    return Bounded(value, bound, to, least=least)


def maximum(left: Number, right: Number, to: Format) -> Bounded:
    """The greater of two numbers, by the ends of their intervals."""
    a, b = number(left, to), number(right, to)
    value, least = torch.maximum(a.value, b.value), max(a.least, b.least)
    if a.is_exact and b.is_exact:
        return Bounded(value, torch.zeros_like(value), to, least=least)
    low, high = torch.maximum(a.low, b.low), torch.maximum(a.high, b.high)
    error = torch.maximum(high - value, value - low)
    # Where the greater one is exact, and the other is less in any case.
    decided = ((a.bound == 0) & (a.value >= b.high)) | ((b.bound == 0) & (b.value >= a.high))
    return settled(value, torch.where(decided, 0.0, error), to, least=least, same=decided, stored=False)


def minimum(left: Number, right: Number, to: Format) -> Bounded:
    """The less of two numbers."""
    return neg(maximum(neg(number(left, to)), neg(number(right, to)), to))


def compared(function: Callable[[Tensor, Tensor], Tensor], left: Number, right: Number) -> Bounded:
    """A condition on two numbers; undecided, an infinite bound, where rounding may change their order.

    The difference of two numbers is compared without error.
    """
    of = left.format if isinstance(left, Bounded) else right.format if isinstance(right, Bounded) else None
    to = of if of is not None and of.is_float else format_of(torch.float64)
    if not any(isinstance(each, Bounded) and each.format.is_float for each in (left, right)):
        # Integers are compared as they are.
        values = [each.value if isinstance(each, Bounded) else torch.tensor(each) for each in (left, right)]
        bounds = [each.bound for each in (left, right) if isinstance(each, Bounded)]
        result = function(*values)
        return Bounded(result, torch.zeros_like(result, dtype=torch.float64) + sum(bounds), format_of(torch.bool))
    a, b = number(left, to), number(right, to)
    margin = a.bound + b.bound
    undecided = (margin > 0) & ~((a.value - b.value).abs() > margin)
    bound = torch.where(undecided, math.inf, 0.0)
    return Bounded(function(a.value, b.value), bound, format_of(torch.bool))
