"""Conditions, choices by them, dtypes, and tensors that are made from nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, Number, Terms, constant, number, rounded
from shaped.runtime.compiled.rounding.choices import chosen, compared
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.table import RULES, rule

_COMPARISONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "gt": torch.gt, "greater": torch.gt, "ge": torch.ge, "greater_equal": torch.ge, "lt": torch.lt, "less": torch.lt,
    "le": torch.le, "less_equal": torch.le, "eq": torch.eq, "ne": torch.ne, "not_equal": torch.ne,
}  # fmt: skip


def _comparison(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Format, Bounded, Number], Bounded]:
    def of(to: Format, self: Bounded, other: Number) -> Bounded:
        return compared(function, self, other)

    return of


RULES.update({name: _comparison(function) for name, function in _COMPARISONS.items()})


@rule("isnan", "isinf")
def not_a_number(to: Format, self: Bounded) -> Bounded:
    """No number that has a bound is one."""
    bound = torch.where(self.bound.isinf(), math.inf, 0.0)
    return Bounded(self.value.isnan() | self.value.isinf(), bound, to)


@rule("logical_not")
def is_zero(to: Format, self: Bounded) -> Bounded:
    return compared(torch.eq, self, 0)


@rule("where")
def where(to: Format, condition: Bounded, self: Number, other: Number) -> Bounded:
    return chosen(condition, self, other, to)


@rule("masked_fill")
def masked_fill(to: Format, self: Bounded, mask: Bounded, value: Number) -> Bounded:
    filled = chosen(mask, value, self, to)
    if self.terms and mask.is_exact:  # a sum where it is kept, and a number elsewhere
        filled.terms = Terms(
            self.terms.roundings,
            torch.where(mask.value, filled.value.abs() + filled.bound, self.terms.magnitude),
            torch.where(mask.value, filled.bound, self.terms.error),
        )
    return filled


@rule("_to_copy", "to")
def converted(to: Format, self: Bounded, dtype: torch.dtype | None = None) -> Bounded:
    """Another dtype: rounded, if that is narrower; an integer is undecided where rounding may make it another one."""
    if to.is_float:
        return rounded(number(self, to), to)
    if not self.format.is_float:
        return Bounded(self.value.to(to.dtype), self.bound, to)
    if to.dtype == torch.bool:
        return compared(torch.ne, self, 0)
    changes = (self.bound > 0) & (self.low.trunc() != self.high.trunc())
    return Bounded(self.value.to(to.dtype), torch.where(changes, math.inf, 0.0), to)


@rule("copy")
def copied(to: Format, self: Bounded, src: Bounded) -> Bounded:
    return converted(to, src)


def _made(value: Tensor, to: Format) -> Bounded:
    """A tensor that is made of constants."""
    dtype = torch.float64 if to.is_float else to.dtype
    bound = torch.zeros(value.shape, dtype=torch.float64)
    if to.is_float and not torch.equal(value.to(to.dtype).to(value.dtype), value):
        bound = bound + to.precision * value.abs()
    return Bounded(value.to(dtype), bound, to)


def _filled(size: Sequence[int], value: Number, to: Format) -> Bounded:
    """A tensor of one number; no kernel's constant is off by more than half a unit."""
    if isinstance(value, Bounded):
        one = converted(to, value)
    elif to.is_float:
        one = constant(float(value), to)
    else:
        one = Bounded(torch.tensor(value, dtype=to.dtype), torch.zeros((), dtype=torch.float64), to)
    return Bounded(one.value.expand(tuple(size)).clone(), one.bound.expand(tuple(size)).clone(), to)


@rule("full")
def full(to: Format, size: Sequence[int], fill_value: Number, dtype: torch.dtype | None = None) -> Bounded:
    return _filled(size, fill_value, to)


@rule("full_like", "fill")
def full_like(
    to: Format,
    self: Bounded,
    value: Number | None = None,
    *,
    fill_value: Number | None = None,
    dtype: torch.dtype | None = None,
) -> Bounded:
    filling = value if value is not None else fill_value
    assert filling is not None
    return _filled(self.value.shape, filling, to)


@rule("new_full")
def new_full(
    to: Format, self: Bounded, size: Sequence[int], fill_value: Number, dtype: torch.dtype | None = None
) -> Bounded:
    return _filled(size, fill_value, to)


@rule("zeros")
def zeros(to: Format, size: Sequence[int], dtype: torch.dtype | None = None) -> Bounded:
    return _filled(size, 0, to)


@rule("ones")
def ones(to: Format, size: Sequence[int], dtype: torch.dtype | None = None) -> Bounded:
    return _filled(size, 1, to)


@rule("new_zeros")
def new_zeros(to: Format, self: Bounded, size: Sequence[int], dtype: torch.dtype | None = None) -> Bounded:
    return _filled(size, 0, to)


@rule("new_ones")
def new_ones(to: Format, self: Bounded, size: Sequence[int], dtype: torch.dtype | None = None) -> Bounded:
    return _filled(size, 1, to)


@rule("zeros_like", "zero")
def zeros_like(to: Format, self: Bounded, dtype: torch.dtype | None = None) -> Bounded:
    return _filled(self.value.shape, 0, to)


@rule("ones_like")
def ones_like(to: Format, self: Bounded, dtype: torch.dtype | None = None) -> Bounded:
    return _filled(self.value.shape, 1, to)


@rule("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted")
def empty(to: Format, *args: object, **named: object) -> tuple[None]:
    """Memory that means nothing before it is written."""
    return (None,)


@rule("scalar_tensor")
def scalar_tensor(to: Format, s: float, dtype: torch.dtype | None = None) -> Bounded:
    return _filled((), s, to)


def _maker(function: Callable[..., Tensor]) -> Callable[..., Bounded]:
    def of(to: Format, *args: float, dtype: torch.dtype | None = None) -> Bounded:
        made = function(*args, dtype=torch.float64 if to.is_float else to.dtype)
        result = _made(made, to)
        # Of a step, a product and an addition.
        return result if result.is_exact else Bounded(made, 4 * result.bound, to)

    return of


RULES.update({name: _maker(getattr(torch, name)) for name in ("arange", "linspace", "eye")})


@rule("scatter.value")
def scatter_constant(to: Format, self: Bounded, dim: int, index: Bounded, value: float) -> Bounded:
    self, new = number(self, to), constant(value, to)
    bound = self.bound.scatter(dim, index.value, float(new.bound))
    bound = bound if index.is_exact else torch.full_like(bound, math.inf)
    return Bounded(self.value.scatter(dim, index.value, value), bound, to)


@rule("constant_pad_nd")
def padded(to: Format, self: Bounded, pad: Sequence[int], value: float = 0) -> Bounded:
    self, new = number(self, to), constant(value, to)
    function = torch.constant_pad_nd
    return Bounded(function(self.value, pad, float(value)), function(self.bound, pad, float(new.bound)), to)
