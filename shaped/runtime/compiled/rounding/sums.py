"""Sums of many terms, and what is made of them: linear and bilinear operations, by running them on magnitudes.

A linear operation whose coefficients are not negative, done on the magnitudes of its terms, gives the sum of magnitudes
that the error of summing is relative to (eq. 4.4); done on their errors, what these come to. A bilinear one, such as a
product of matrices, likewise (section 3.5): `|C' - C| <= g(n) |A| |B| + Ea |B| + |A| Eb + Ea Eb`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import (
    Bounded,
    Terms,
    div,
    number,
    sub,
    sum_of_terms,
    terms_of,
)
from shaped.runtime.compiled.rounding.formats import Format, growth

Axes = Sequence[int] | int | None


def linear(
    function: Callable[[Tensor], Tensor], x: Bounded, count: float, to: Format, *, least: float = -math.inf
) -> Bounded:
    """A linear operation with coefficients that are not negative.

    Args:
        function: the operation.
        count: the most terms that one entry is a sum of.
    """
    x = number(x, to)
    of = terms_of(x)
    terms = Terms(of.roundings + count * to.unit, function(of.magnitude), function(of.error))
    value = function(x.value)
    same = value.isinf() if not bool(value.isfinite().all()) and x.is_exact else None
    return sum_of_terms(value, terms, to, least=least, same=same)


def bilinear(
    function: Callable[[Tensor, Tensor], Tensor], left: Bounded, right: Bounded, count: float, to: Format
) -> Bounded:
    """An operation that is linear in each of two tensors, a sum of products.

    Args:
        function: the operation.
        count: the most products that one entry is a sum of.
    """
    a, b = number(left, to), number(right, to)
    magnitude = function(a.reach, b.reach)
    # The rounding of each product; a flushed one is wrong by no more than the least normal number.
    error = growth((2 if a.terms or b.terms else 1) * to.unit) * magnitude
    error = error + magnitude.clamp(max=count * to.least_normal)
    if not a.is_exact:
        error = error + function(a.bound, b.value.abs() + b.bound)
    if not b.is_exact:
        error = error + function(a.value.abs(), b.bound)
    terms = Terms(count * to.unit, magnitude, error)
    return sum_of_terms(function(a.value, b.value), terms, to)


def axes_of(x: Tensor, axes: Axes) -> list[int]:
    """The axes of a reduction, all where none are named."""
    if axes is None or (not isinstance(axes, int) and not len(axes)):
        return list(range(x.ndim))
    return [axis % max(x.ndim, 1) for axis in ([axes] if isinstance(axes, int) else axes)]


def count_over(x: Tensor, axes: Axes) -> int:
    """How many entries each entry of a reduction is made of."""
    return math.prod(x.shape[axis] for axis in axes_of(x, axes) if x.ndim)


def total(x: Bounded, to: Format, axes: Axes = None, keepdim: bool = False) -> Bounded:
    """The sum over axes."""
    over = axes_of(x.value, axes)
    least = 0.0 if x.least >= 0 else -math.inf

    def function(values: Tensor) -> Tensor:
        return values.sum(over, keepdim) if over else values.clone()

    return linear(function, x, count_over(x.value, axes), to, least=least)


def mean(x: Bounded, to: Format, axes: Axes = None, keepdim: bool = False, *, correction: float = 0) -> Bounded:
    """The mean over axes; with a correction, the sum by that many fewer than the entries."""
    return div(total(x, to, axes, keepdim), float(count_over(x.value, axes)) - correction, to)


def matmul(left: Bounded, right: Bounded, to: Format) -> Bounded:
    """The product of matrices, or of stacks of them."""
    return bilinear(torch.matmul, left, right, left.value.shape[-1], to)


def centred(x: Bounded, to: Format, axes: Axes) -> tuple[Bounded, Bounded]:
    """The mean over axes, kept as axes of size 1, and what is left without it."""
    average = mean(x, to, axes, keepdim=True)
    return average, sub(x, average, to)
