"""Rules of indexing with tensors of whole numbers or booleans."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.arithmetic import divide, linear, linear_of_many, times, where
from shaped.verify.exact.aten.registry import UnsupportedError, rule
from shaped.verify.exact.branches import current, is_same
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
        result: Tensor = torch.ops.aten.index_put(both[0], list(indices), both[1], accumulate)
        return result

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
    result: Value = _scatter_add(value, dim, index, part)
    return result


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


@rule("masked_scatter_backward")
def _masked_scatter_backward(value: Value, mask: Tensor, sizes: Any) -> Value:
    def pick(one: Tensor) -> Tensor:
        picked = one.masked_select(mask)
        count = torch.Size(sizes).numel()
        return torch.nn.functional.pad(picked, (0, count - picked.numel())).reshape(sizes)

    return linear(pick, value)


@rule("scatter_reduce")
def _reduce_into(value: Any, dim: int, index: Tensor, source: Any, reduce: str, *, include_self: bool = True) -> Value:
    """Reductions of a source into places, together with what is there or in place of it."""
    target, part = lift(value), lift(source)
    if not target.ndim:
        arguments = [one.move(lambda part: part.reshape(-1)) for one in (target, part)]
        result: Value = _reduce_into(
            arguments[0], 0, index.reshape(-1), arguments[1], reduce, include_self=include_self
        )
        return result.move(lambda one: one.reshape(()))
    if index.shape != part.shape:
        part = part.move(lambda one: one[tuple(slice(0, size) for size in index.shape)])
    ones = torch.ones(index.shape, dtype=torch.int64)
    hits = torch.zeros(target.shape, dtype=torch.int64).scatter_add(dim, index, ones)
    if reduce in ("sum", "mean"):
        base = target if include_self else where(hits > 0, 0, target)
        summed = _scatter_add(base, dim, index, part)
        count = (hits + int(include_self)).clamp(min=1)
        return summed if reduce == "sum" else divide(summed, count)
    if reduce == "prod":
        return _multiplied_into(target if include_self else where(hits > 0, 1, target), dim, index, part)
    extreme = target.shadow.scatter_reduce(dim, index, part.shadow, reduce, include_self=include_self)
    wins = part.shadow == extreme.gather(dim, index)
    number = torch.arange(index.numel()).reshape(index.shape)
    owner = torch.full(target.shape, -1).scatter_reduce(dim, index, torch.where(wins, number, -1), "amax")
    kept = (target.shadow == extreme) & (hits == 0 if not include_self else torch.tensor(True))
    taken = part.move(lambda one: one.reshape(-1)[owner.clamp(min=0)])
    result = where(kept, target, taken)
    if current().depends:
        rivals = result.move(lambda one: one.gather(dim, index))
        if bool((wins & ~is_same(rivals, part)).any()):
            current().kink("a tie of the extremes")
    return result


def _multiplied_into(target: Value, dim: int, index: Tensor, source: Value) -> Value:
    """Factors multiplied into places, those of one position along a dim after those of another."""
    result = target
    one = lift(1).move(lambda part: part.expand(target.shape))
    for position in range(index.shape[dim]):
        places = index.narrow(dim, position, 1)
        factors = source.move(lambda part, k=position: part.narrow(dim, k, 1))  # type: ignore[misc]  # bound now
        spread = linear_of_many(lambda both, at=places: both[0].scatter(dim, at, both[1]), [one, factors])  # type: ignore[misc]  # bound now
        result = times(result, spread)
    return result


@rule("index_reduce")
def _index_reduce(value: Any, dim: int, index: Tensor, source: Any, reduce: str, *, include_self: bool = True) -> Value:
    part = lift(source)
    if not part.ndim:
        scalar: Value = _reduce_into(value, dim, index.reshape(()), part, reduce, include_self=include_self)
        return scalar
    places = index.reshape([-1 if k == dim % part.ndim else 1 for k in range(part.ndim)]).expand(part.shape)
    result: Value = _reduce_into(value, dim, places, part, reduce, include_self=include_self)
    return result
