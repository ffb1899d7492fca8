"""Rules of comparisons and of tests: booleans, decided by the shadow."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.aten.registry import RULES, rule
from shaped.verify.exact.branches import compare
from shaped.verify.exact.value import Value

for _name in ("gt", "ge", "lt", "le", "eq", "ne"):
    RULES[_name] = partial(compare, getattr(torch, _name))


@rule("isnan")
def _isnan(value: Value) -> Tensor:
    return torch.isnan(value.shadow)


@rule("isinf")
def _isinf(value: Value) -> Tensor:
    return torch.isinf(value.shadow)


@rule("isfinite")
def _isfinite(value: Value) -> Tensor:
    return torch.isfinite(value.shadow)


@rule("signbit")
def _signbit(value: Value) -> Tensor:
    return compare(torch.lt, value, 0)


@rule("isposinf")
def _isposinf(value: Value) -> Tensor:
    return torch.isposinf(value.shadow)


@rule("isneginf")
def _isneginf(value: Value) -> Tensor:
    return torch.isneginf(value.shadow)


def _truth(value: Any) -> Tensor:
    return compare(torch.ne, value, 0) if isinstance(value, Value) else torch.as_tensor(value).bool()


@rule("logical_and", "bitwise_and")
def _and(left: Any, right: Any) -> Tensor:
    return _truth(left) & _truth(right)


@rule("logical_or", "bitwise_or")
def _or(left: Any, right: Any) -> Tensor:
    return _truth(left) | _truth(right)


@rule("logical_xor")
def _xor(left: Any, right: Any) -> Tensor:
    return _truth(left) ^ _truth(right)


@rule("logical_not", "bitwise_not")
def _not(value: Any) -> Tensor:
    return ~_truth(value)


@rule("any.default", "any.dim", "any.dims")
def _any(value: Any, *dims: Any, **options: Any) -> Tensor:
    return torch.any(_truth(value), *dims, **options)


@rule("all.default", "all.dim", "all.dims")
def _all(value: Any, *dims: Any, **options: Any) -> Tensor:
    return torch.all(_truth(value), *dims, **options)


@rule("count_nonzero", "count_nonzero.dim_IntList")
def _count_nonzero(value: Any, dims: Any = None) -> Tensor:
    return torch.count_nonzero(_truth(value), dims)
