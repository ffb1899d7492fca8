"""Rules of indexing with tensors of whole numbers or booleans."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact import field
from shaped.verify.exact.arithmetic import linear, linear_of_many, times, where
from shaped.verify.exact.aten.registry import UnsupportedError, rule
from shaped.verify.exact.value import Value, lift


@rule("gather")
def _gather(value: Value, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Value:
    return value.move(lambda one: one.gather(dim, index) if one.dim() else one.expand(index.shape))


@rule("index_select")
def _index_select(value: Value, dim: int, index: Tensor) -> Value:
    return value.move(lambda one: one.index_select(dim, index))


@rule("take")
def _take(value: Value, index: Tensor) -> Value:
    return value.move(lambda one: one.take(index))


def _key(indices: Any) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


@rule("index", "_unsafe_index")
def _index(value: Value, indices: Any) -> Value:
    return value.move(lambda one: one[_key(indices)])


@rule("masked_select")
def _masked_select(value: Value, mask: Tensor) -> Value:
    return value.move(lambda one: one.masked_select(mask))


@rule("index_put", "_unsafe_index_put")
def _index_put(value: Any, indices: Any, source: Any, accumulate: bool = False) -> Value:
    def put(both: Any) -> Tensor:
        key = [index for index in _key(indices)]
        tensors = [None if isinstance(index, slice) else index for index in key]
        return torch.ops.aten.index_put(both[0], tensors, both[1], accumulate)

    return linear_of_many(put, [lift(value), lift(source)])


@rule("scatter.src", "scatter.value")
def _scatter(value: Any, dim: int, index: Tensor, source: Any) -> Value:
    target, part = lift(value), lift(source)
    if part.ndim == 0:
        part = part.move(lambda one: one.expand(index.shape))
    return linear_of_many(lambda both: both[0].scatter(dim, index, both[1]), [target, part])


@rule("scatter_add")
def _scatter_add(value: Any, dim: int, index: Tensor, source: Any) -> Value:
    return linear_of_many(lambda both: both[0].scatter_add(dim, index, both[1]), [lift(value), lift(source)])


@rule("scatter.reduce", "scatter.value_reduce")
def _scatter_reduce(value: Any, dim: int, index: Tensor, source: Any, *, reduce: str) -> Value:
    if reduce != "add":
        raise UnsupportedError(f"scatter that reduces by {reduce}")
    part = lift(source)
    if part.ndim == 0:
        part = part.move(lambda one: one.expand(index.shape))
    return _scatter_add(value, dim, index, part)


@rule("index_add")
def _index_add(value: Any, dim: int, index: Tensor, source: Any, *, alpha: float = 1) -> Value:
    scaled = times(source, alpha)
    return linear_of_many(lambda both: both[0].index_add(dim, index, both[1]), [lift(value), scaled])


@rule("index_copy")
def _index_copy(value: Any, dim: int, index: Tensor, source: Any) -> Value:
    return linear_of_many(lambda both: both[0].index_copy(dim, index, both[1]), [lift(value), lift(source)])


@rule("index_fill")
def _index_fill(value: Value, dim: int, index: Tensor, number: Any) -> Value:
    mask = torch.zeros(value.shape, dtype=torch.bool).index_fill(dim, index, True)
    return where(mask, number, value)


@rule("put")
def _put(value: Any, index: Tensor, source: Any, accumulate: bool = False) -> Value:
    return linear_of_many(lambda both: both[0].put(index, both[1], accumulate), [lift(value), lift(source)])


@rule("masked_scatter")
def _masked_scatter(value: Any, mask: Tensor, source: Any) -> Value:
    return linear_of_many(lambda both: both[0].masked_scatter(mask, both[1]), [lift(value), lift(source)])


@rule("embedding")
def _embedding(weight: Value, index: Tensor, *_: Any) -> Value:
    return weight.move(lambda one: one[index])


@rule("embedding_dense_backward")
def _embedding_dense_backward(value: Value, index: Tensor, rows: int, padding: int, scale: bool) -> Value:
    if scale:
        raise UnsupportedError("embedding gradients scaled by frequency")

    def place(one: Tensor) -> Tensor:
        kept = (index != padding).reshape(-1)
        flat = one.reshape(-1, one.shape[-1])[kept]
        return one.new_zeros(rows, one.shape[-1]).index_add(0, index.reshape(-1)[kept], flat)

    return linear(place, value)


@rule("index_reduce", "scatter_reduce.two")
def _index_reduce(*_: Any, **__: Any) -> Value:
    raise UnsupportedError("reductions into places")


_ = field
