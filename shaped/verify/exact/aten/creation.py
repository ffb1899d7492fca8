"""Rules of new tensors, copies and conversions. A conversion between floating types changes no real number."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.aten.registry import RULES, UnsupportedError, rule
from shaped.verify.exact.value import Value, lift


def _filled(shape: Any, number: Any) -> Value:
    return lift(number).move(lambda one: one.expand(list(shape)))


@rule("full_like", "new_full")
def _full_like(like: Any, *arguments: Any, dtype: torch.dtype | None = None, **_: Any) -> Value | Tensor:
    shape, number = arguments if len(arguments) == 2 else (like.shape, arguments[0])
    if dtype is not None and not dtype.is_floating_point:
        return torch.full(list(shape), number, dtype=dtype)
    return _filled(shape, number)


@rule("zeros_like", "new_zeros", "empty_like", "new_empty")
def _zeros_like(like: Any, shape: Any = None, *, dtype: torch.dtype | None = None, **_: Any) -> Value | Tensor:
    return _full_like(like, like.shape if shape is None else shape, 0, dtype=dtype)


@rule("ones_like", "new_ones")
def _ones_like(like: Any, shape: Any = None, *, dtype: torch.dtype | None = None, **_: Any) -> Value | Tensor:
    return _full_like(like, like.shape if shape is None else shape, 1, dtype=dtype)


@rule("new_empty_strided", "empty_strided")
def _new_empty_strided(like: Any, shape: Any, strides: Any, **options: Any) -> Value | Tensor:
    return _zeros_like(like, shape, **options)


@rule("fill")
def _fill(like: Value, number: Any) -> Value:
    return _filled(like.shape, number)


@rule("zero")
def _zero(like: Value) -> Value:
    return _filled(like.shape, 0)


@rule("copy")
def _copy(target: Any, source: Any, non_blocking: bool = False) -> Value | Tensor:
    if isinstance(target, Tensor):
        return _converted(source, target.dtype)
    return lift(source).move(lambda one: one.expand(target.shape))


def _converted(value: Any, dtype: torch.dtype | None) -> Value | Tensor:
    """A value of another type: unchanged for floating ones; whole numbers and booleans are decided by the shadow."""
    if dtype is None:
        return value  # type: ignore[no-any-return]  # a value or a tensor
    if dtype.is_complex:
        raise UnsupportedError("complex numbers")
    if dtype.is_floating_point:
        return lift(value)
    if isinstance(value, Value):
        return value.shadow.to(dtype)
    return torch.as_tensor(value).to(dtype)


@rule("_to_copy", "to.dtype", "convert_element_type")
def _to_copy(value: Any, dtype: torch.dtype | None = None, **_: Any) -> Value | Tensor:
    return _converted(value, dtype)


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


for _name in ("clone", "contiguous", "detach", "alias", "lift_fresh_copy", "lift_fresh", "lift", "positive",
              "view_of", "detach_copy", "alias_copy", "native_dropout_"):  # fmt: skip
    RULES[_name] = _same
