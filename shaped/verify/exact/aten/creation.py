"""Rules of new tensors, copies and conversions. A conversion between floating types changes no real number."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.aten.registry import RULES, rule
from shaped.verify.exact.complex_value import ComplexValue, complex_lift
from shaped.verify.exact.value import Value, lift

AnyValue = Value | ComplexValue | Tensor


def _filled(shape: Any, number: Any) -> Value:
    return lift(number).move(lambda one: one.expand(list(shape)))


def _new(shape: Any, number: Any, dtype: torch.dtype | None) -> AnyValue:
    """A filled tensor; floating where nothing else is asked for, as these are made like floating ones."""
    if dtype is not None and dtype.is_complex:
        return complex_lift(number).each(lambda part: part.move(lambda one: one.expand(list(shape))))
    if dtype is not None and not dtype.is_floating_point:
        return torch.full(list(shape), number, dtype=dtype)
    return _filled(shape, number)


@rule("full_like")
def _full_like(like: Any, number: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(like.shape, number, dtype)


@rule("new_full")
def _new_full(like: Any, shape: Any, number: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(shape, number, dtype)


@rule("zeros_like", "empty_like")
def _zeros_like(like: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(like.shape, 0, dtype)


@rule("new_zeros", "new_empty")
def _new_zeros(like: Any, shape: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(shape, 0, dtype)


@rule("ones_like")
def _ones_like(like: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(like.shape, 1, dtype)


@rule("new_ones")
def _new_ones(like: Any, shape: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(shape, 1, dtype)


@rule("new_empty_strided")
def _new_empty_strided(like: Any, shape: Any, strides: Any, *, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _new(shape, 0, dtype)


@rule("fill")
def _fill(like: Value, number: Any) -> Value:
    return _filled(like.shape, number)


@rule("zero")
def _zero(like: Value) -> Value:
    return _filled(like.shape, 0)


@rule("copy")
def _copy(target: Any, source: Any, non_blocking: bool = False) -> AnyValue:
    if isinstance(target, Tensor):
        return _converted(source, target.dtype)
    return lift(source).move(lambda one: one.expand(target.shape))


def _converted(value: Any, dtype: torch.dtype | None) -> AnyValue:
    """A value of another type: unchanged for floating ones; whole numbers and booleans are decided by the shadow."""
    if dtype is None:
        return value  # type: ignore[no-any-return]  # a value or a tensor
    if dtype.is_complex:
        return complex_lift(value)
    if dtype.is_floating_point:
        return lift(value)
    if isinstance(value, Value):
        return value.shadow.to(dtype)
    return torch.as_tensor(value).to(dtype)


@rule("_to_copy", "to.dtype", "convert_element_type")
def _to_copy(value: Any, dtype: torch.dtype | None = None, **_: Any) -> AnyValue:
    return _converted(value, dtype)


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


for _name in (
    "clone",
    "contiguous",
    "detach",
    "detach_copy",
    "alias",
    "alias_copy",
    "lift",
    "lift_fresh",
    "lift_fresh_copy",
    "positive",
):
    RULES[_name] = _same
