"""Tensors with a bound on the error of any sound kernel, and the arithmetic on them.

A `Bounded` is a reference value, computed in 64 bits, and a bound on how far from it a kernel of the program's dtype
may be that does the same operations. The bounds are derived, not chosen; what a kernel may do differently and still be
right is covered:

- Sums in any order, also sums of sums: `n` terms add `g(n)` times the sum of their magnitudes (eq. 4.4).
- Products of sums multiplied out or not: their rounding is taken of the product of the sums of magnitudes.
- Fused multiply-add and wider accumulators only leave roundings out. A division may be a product with a reciprocal.
- Functions of one argument right within 4 units in the last place (`LIBRARY`), which is what MKL, Sleef, CUDA and the
  code that Inductor writes are; more where a formula of common use is worse, beside the function.
- Numbers below the least normal one flushed to 0, as operands and as results.
- At a kink or a jump, where rounding decides on which side a number is, the bound covers both sides.

Not covered, so not sound in this sense: convolutions by Winograd's or Fourier's transform, TF32, `-ffast-math` beyond
the order of sums and products, and what leaves a function's domain (the root of a variance that came out negative).

Bounds are computed in 64 bits and widened (`_WIDER`) by more than these roundings. An infinite bound says that rounding
may change the value without limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.formats import Format, format_of, growth

# A bound is a sum of products of nonnegative numbers: n terms are added with at most n roundings of 2^-53, and the
# largest sums here have fewer than 2^32.
_WIDER = 1 + 2.0**-20

# The error of a function of the library in units of u: 4 units in the last place, each at most 2u.
LIBRARY = 8.0


@dataclass(eq=False)
class Terms:
    """What a sum is made of; it counts as one with a sum that it is part of, for a kernel may reorder them.

    Args:
        roundings: of the additions on the way of one term, in all.
        magnitude: the sum of the terms' magnitudes, as computed.
        error: the sum of the terms' errors.
    """

    roundings: float
    magnitude: Tensor
    error: Tensor


@dataclass(eq=False)
class Bounded:
    """A tensor as any sound kernel may compute it.

    Args:
        value: the reference: float64, or integers and truth values as they are.
        bound: float64, in the same shape: a kernel's value differs from the reference by no more.
        format: of the dtype that the program has it in.
        terms: where it is a sum, of what.
        least: no kernel computes less than this, where that says more than the bound (a root is never negative).
    """

    value: Tensor
    bound: Tensor
    format: Format
    terms: Terms | None = None
    least: float = -math.inf

    @property
    def reach(self) -> Tensor:
        """The greatest magnitude that intermediate results reach."""
        return (self.terms.magnitude if self.terms else self.value.abs()) + self.bound

    @property
    def is_exact(self) -> bool:
        """Whether every kernel has the same numbers."""
        return not bool(self.bound.any())

    @property
    def low(self) -> Tensor:
        """The least that a kernel may compute."""
        low = torch.nextafter(self.value - self.bound, torch.tensor(-math.inf, dtype=torch.float64))
        return low.clamp(min=self.least) if self.least > -math.inf else low

    @property
    def high(self) -> Tensor:
        """The greatest that a kernel may compute."""
        return torch.nextafter(self.value + self.bound, torch.tensor(math.inf, dtype=torch.float64))

    def write(self, new: Bounded) -> None:
        """Write into this tensor and so into all that it is a view of, and that are views of it."""
        self.value.copy_(new.value)
        self.bound.copy_(rounded(new, self.format).bound)
        if self.terms:
            self.terms.magnitude.copy_(self.value.abs() + self.bound)
            self.terms.error.copy_(self.bound)
        self.least = new.least


Number: TypeAlias = Bounded | float


def given(value: Tensor) -> Bounded:
    """A tensor whose entries every kernel has; new memory with the same strides.

    >>> given(torch.tensor([2**-130, 1.0])).bound.tolist() == [2**-130, 0.0]  # the first may be taken for 0
    True

    Raises:
        NoFormat: the dtype has no error bound.
    """
    to = format_of(value.dtype)
    value = value.detach()
    # Views of it by strides reach as far as its memory does, whatever its own sizes.
    size = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride())) if value.numel() else 0
    memory = value.as_strided((size,), (1,), value.storage_offset()).cpu()
    memory = memory.to(torch.float64, copy=True) if to.is_float else memory.clone()
    value = memory.as_strided(value.shape, value.stride())
    bound = torch.zeros(size, dtype=torch.float64).as_strided(value.shape, value.stride())
    if to.is_float:
        small = memory.abs()
        bound = torch.where(small < to.least_normal, small, 0.0).as_strided(value.shape, value.stride())
    return Bounded(value, bound, to)


def constant(value: float, to: Format) -> Bounded:
    """A number of a formula, which a kernel rounds to its format, or not so much."""
    error = 0.0 if to.holds(value) else to.precision * abs(value)
    tensor, bound = (torch.tensor(float(each), dtype=torch.float64) for each in (value, error))
    return Bounded(tensor, bound, to, least=value - error)


def number(value: Number, to: Format) -> Bounded:
    """A bounded tensor as floats, and a constant as one."""
    if not isinstance(value, Bounded):
        return constant(float(value), to)
    if value.value.dtype == torch.float64:
        return value
    return rounded(Bounded(value.value.double(), value.bound, value.format, least=value.least), to)


def settled(
    value: Tensor,
    bound: Tensor,
    to: Format,
    *,
    terms: Terms | None = None,
    least: float = -math.inf,
    same: Tensor | None = None,
    stored: bool = True,
) -> Bounded:
    """A result with its bound: widened, with the rounding of storing, and none where the kernel's number may be none.

    Args:
        same: where every kernel gives this value whatever the bound says, an infinity of an exact operand.
        stored: whether storing may round it.
    """
    bound = bound * _WIDER
    if to.stored_unit and stored:
        reach = value.abs() + bound
        rounding = growth(to.stored_unit) * reach + reach.clamp(max=to.stored_least)
        bound = bound + rounding
        terms = terms and Terms(terms.roundings, terms.magnitude + rounding, terms.error + rounding)
    if not bool((value.abs() + bound <= to.largest).all()):  # or NaN
        # Rounding to nearest overflows only from half a unit beyond the largest number.
        fits = value.abs() + bound <= to.largest * (1 + 8 * to.precision)
        bound = torch.where(fits, bound, math.inf)
        if same is not None:
            bound = torch.where(same, 0.0, bound)
    return Bounded(value, bound, to, terms, least)


def rounded(value: Bounded, to: Format) -> Bounded:
    """A value in a format; the same object where that is no change."""
    if value.format.precision >= to.precision or not to.is_float:
        return value
    if not value.format.is_float and bool((value.value.abs() <= 1 / (4 * to.precision)).all()):  # integers it holds
        return Bounded(value.value, value.bound, to, least=value.least)
    same = value.value.isinf() & (value.bound == 0)
    if to.stored_unit:
        return settled(value.value, value.bound, to, terms=value.terms, same=same)
    return computed(value.value, value.bound, to, 1.0, least=value.least, same=same)


def computed(
    value: Tensor,
    error: Tensor,
    to: Format,
    roundings: float,
    *,
    reach: Tensor | None = None,
    least: float = -math.inf,
    same: Tensor | None = None,
) -> Bounded:
    """A result with the error that its arguments make, and so many roundings of its own.

    Args:
        reach: what these are relative to, if not the result.
    """
    reach = value.abs() + error if reach is None else reach
    # A result below the least normal number may be flushed: wrong by itself, so by no more than either.
    error = error + growth(roundings * to.unit) * reach + reach.clamp(max=to.least_normal)
    return settled(value, error, to, least=least, same=same)


def sum_of_terms(
    value: Tensor, terms: Terms, to: Format, *, least: float = -math.inf, same: Tensor | None = None
) -> Bounded:
    """A sum, by what it is made of."""
    bound = terms.error + growth(terms.roundings) * terms.magnitude + terms.magnitude.clamp(max=to.least_normal)
    return settled(value, bound, to, terms=terms, least=least, same=same)


def terms_of(value: Bounded) -> Terms:
    """A number as a sum: of its terms, or of itself alone."""
    return value.terms or Terms(0.0, value.value.abs() + value.bound, value.bound)


def add(left: Number, right: Number, to: Format) -> Bounded:
    """`left + right`."""
    a, b = number(left, to), number(right, to)
    of_a, of_b = terms_of(a), terms_of(b)
    value = a.value + b.value
    # One rounding more than the additions, for `g + g w` may be `g (1 + w)`: a product of the whole sum.
    roundings = of_a.roundings + of_b.roundings + 2 * to.unit
    terms = Terms(roundings, of_a.magnitude + of_b.magnitude, of_a.error + of_b.error)
    same = None
    if not bool(value.isfinite().all()):
        same = value.isinf() & ((a.value.isinf() & (a.bound == 0)) | (b.value.isinf() & (b.bound == 0)))
    least = (a.least + b.least) * (1 - 2 * to.unit) if min(a.least, b.least) >= 0 else -math.inf
    return sum_of_terms(value, terms, to, least=least, same=same)


def neg(x: Bounded) -> Bounded:
    """`-x`, which rounds nothing."""
    return Bounded(-x.value, x.bound, x.format, x.terms)


def sub(left: Number, right: Number, to: Format) -> Bounded:
    """`left - right`."""
    return add(left, neg(number(right, to)), to)


def mul(left: Number, right: Number, to: Format) -> Bounded:
    """`left * right`."""
    a, b = number(left, to), number(right, to)
    for one, rest in ((left, b), (right, a)):
        if not isinstance(one, Bounded) and abs(one) == 1:
            return rest if one == 1 else neg(rest)
    error = a.value.abs() * b.bound + (b.value.abs() + b.bound) * a.bound
    roundings = 2.0 if a.terms or b.terms else 1.0
    is_square = a is b
    least = max(a.least, 0.0) * max(b.least, 0.0) * (1 - 2 * to.unit) if min(a.least, b.least) >= 0 else -math.inf
    if is_square:
        least = max(least, 0.0)
    return computed(a.value * b.value, error, to, roundings, reach=a.reach * b.reach, least=least)


def div(left: Number, right: Number, to: Format) -> Bounded:
    """`left / right`: `|a/b - a'/b'| <= (ea + |a/b| eb) / |b'|`; no limit where the divisor may be 0."""
    a, b = number(left, to), number(right, to)
    value = a.value / b.value
    nearest = b.value.abs() - b.bound
    if b.least > 0:
        nearest = nearest.clamp(min=b.least)
    error = (a.bound + value.abs() * b.bound) / nearest
    # 0 by anything that is not 0.
    error = torch.where(nearest > 0, error, math.inf)
    least = 0.0 if a.least >= 0 and b.least >= 0 else -math.inf
    # A reciprocal, and a product with it.
    if a.terms:
        return computed(value, error, to, 2.0, reach=a.reach / nearest, least=least)
    return computed(value, error, to, 2.0, least=least)


def applied(
    function: Callable[[Tensor], Tensor],
    x: Bounded,
    to: Format,
    *,
    roundings: float | Callable[[Tensor, Tensor], Tensor] = LIBRARY,
    turns: Sequence[float] = (),
    domain: float = -math.inf,
    least: float = -math.inf,
) -> Bounded:
    """A function of one argument, by its values at the ends of the interval of the argument.

    Args:
        function: monotone between the turns.
        roundings: the kernel's own error in units of u, relative; or absolute, of the argument and the value.
        turns: where it has an extreme.
        domain: where it begins; a kernel whose argument is computed below is taken for one at the beginning.
        least: a lower bound of the function.
    """
    value = function(x.value)
    error = torch.zeros_like(value)
    if not x.is_exact:
        low, high = x.low, x.high
        if domain > -math.inf:
            low, high = low.clamp(min=domain), high.clamp(min=domain)
        error = torch.maximum((function(low) - value).abs(), (function(high) - value).abs())
        for turn in turns:
            at = function(torch.tensor(turn, dtype=torch.float64))
            error = torch.where((low < turn) & (turn < high), torch.maximum(error, (at - value).abs()), error)
        error = torch.where(x.bound == 0, 0.0, error)
    same = value.isinf() & (x.bound == 0)
    if callable(roundings):
        # The reference's values are right within 4 units too; the last term is their part in the differences above.
        own = roundings(x.value.abs() + x.bound, value.abs() + error) * to.unit
        return settled(value, error + own + own.clamp(max=to.least_normal), to, least=least, same=same)
    if not roundings:
        return settled(value, error, to, least=least, same=same, stored=False)
    return computed(value, error, to, roundings, least=least, same=same)
