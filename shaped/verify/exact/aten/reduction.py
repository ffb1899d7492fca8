"""Rules of sums, means, variances, products, norms, extrema and sorting."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact import arithmetic
from shaped.verify.exact.arithmetic import count, divide, square_root, subtract, times, total
from shaped.verify.exact.aten.registry import rule
from shaped.verify.exact.branches import compare, current, is_same
from shaped.verify.exact.functions import constant_power, exp, log, root, with_shadow
from shaped.verify.exact.value import Value, lift


def dims_of(dim: Any) -> list[int]:
    """The dims that an argument names; none for None."""
    if dim is None:
        return []
    return [dim] if isinstance(dim, int) else list(dim)


@rule("sum.default", "sum.dim_IntList", "nansum")
def _sum(value: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return total(lift(value), dims_of(dim), keepdim=keepdim)


@rule("mean.default", "mean.dim")
def _mean(value: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return arithmetic.mean(lift(value), dims_of(dim), keepdim=keepdim)


@rule("var_mean.correction")
def _var_mean(value: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> tuple[Value, Value]:
    dims = dims_of(dim)
    average = arithmetic.mean(value, dims, keepdim=True)
    rest = subtract(value, average)
    degrees = count(value, dims) - (1 if correction is None else correction)
    squares = total(times(rest, rest), dims, keepdim=keepdim)
    return divide(squares, degrees), arithmetic.mean(value, dims, keepdim=keepdim)


@rule("var.correction")
def _var(value: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Value:
    result: Value = _var_mean(value, dim, correction=correction, keepdim=keepdim)[0]
    return result


@rule("std.correction")
def _std(value: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Value:
    return square_root(_var(value, dim, correction=correction, keepdim=keepdim))


@rule("std_mean.correction")
def _std_mean(value: Value, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> tuple[Value, Value]:
    variance, average = _var_mean(value, dim, correction=correction, keepdim=keepdim)
    return square_root(variance), average


@rule("cumsum")
def _cumsum(value: Any, dim: int, *, dtype: Any = None) -> Value:
    return arithmetic.linear(lambda one: one.cumsum(dim), lift(value))


@rule("prod.default")
def _prod(value: Any, *, dtype: Any = None) -> Value:
    result: Value = _prod_dim(lift(value).move(lambda one: one.reshape(-1)), 0)
    return result


@rule("prod.dim_int")
def _prod_dim(value: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Value:
    one = lift(value)
    if not one.ndim:
        return one
    result: Value = _cumprod_all(one, dim)[-1] if one.shape[dim] else lift(torch.ones(one.shadow.sum(dim).shape))
    return result.move(lambda part: part.unsqueeze(dim)) if keepdim else result


def _cumprod_all(value: Value, dim: int) -> list[Value]:
    results: list[Value] = []
    for k in range(value.shape[dim]):
        factor = value.move(lambda one, k=k: one.select(dim, k))  # type: ignore[misc]  # no type is inferred
        results.append(times(results[-1], factor) if results else factor)
    return results


@rule("cumprod")
def _cumprod(value: Any, dim: int, *, dtype: Any = None) -> Value:
    one = lift(value)
    if not one.ndim or not one.shape[dim]:
        return one
    return arithmetic.move_many(lambda parts: torch.stack(list(parts), dim), _cumprod_all(one, dim))


@rule("linalg_vector_norm")
def _vector_norm(value: Value, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:  # noqa: A002  # torch's name
    return vector_norm(value, ord, dims_of(dim), keepdim=keepdim)


def vector_norm(value: Value, degree: float, dims: list[int], *, keepdim: bool = False) -> Value:
    """The norm of a degree along dims; all of them if none is named."""
    if degree == 2:
        return square_root(total(times(value, value), dims, keepdim=keepdim))
    size = arithmetic.absolute(value)
    if degree == 1:
        return total(size, dims, keepdim=keepdim)
    if degree == 0:
        return total(lift(compare(torch.ne, value, 0).double()), dims, keepdim=keepdim)
    if math.isinf(degree):
        return _extremum(size, dims, keepdim, greatest=degree > 0)
    powers = total(constant_power(size, degree), dims, keepdim=keepdim)
    if float(degree).is_integer() and degree > 0:
        return root(powers, int(degree))
    return constant_power(powers, 1 / degree)


def _merged(value: Value, dims: list[int]) -> tuple[Value, list[int]]:
    """The dims that are reduced moved to the end and merged."""
    along = sorted({dim % value.ndim for dim in dims}) or list(range(value.ndim))
    kept = [dim for dim in range(value.ndim) if dim not in along]
    sizes = [value.shape[dim] for dim in kept]
    return value.move(lambda one: one.permute(kept + along).reshape([*sizes, -1])), along


def _chosen(value: Value, index: Tensor, dim: int, *, greatest: bool) -> Value:
    """The entries at an index along a dim, with a kink where another entry is as great."""
    result = value.move(lambda one: one.gather(dim, index))
    if current().depends:
        ties = (value.shadow == result.shadow) & ~is_same(value, result)
        if bool(ties.any()):
            current().kink("a tie of the " + ("greatest" if greatest else "smallest"))
        if bool(torch.isnan(result.shadow).any()):
            current().undecided()
    return result


def _extremum(value: Value, dims: list[int], keepdim: bool, *, greatest: bool) -> Value:
    if not value.ndim:
        return value
    merged, along = _merged(value, dims)
    choose = torch.argmax if greatest else torch.argmin
    index = choose(merged.shadow, -1, keepdim=True)
    result = _chosen(merged, index, -1, greatest=greatest).move(lambda one: one.squeeze(-1))
    if keepdim:
        sizes = [1 if dim in along else size for dim, size in enumerate(value.shape)]
        result = result.move(lambda one: one.reshape(sizes))
    return result


@rule("amax", "max.default")
def _amax(value: Value, dim: Any = (), keepdim: bool = False) -> Value:
    return _extremum(value, dims_of(dim), keepdim, greatest=True)


@rule("amin", "min.default")
def _amin(value: Value, dim: Any = (), keepdim: bool = False) -> Value:
    return _extremum(value, dims_of(dim), keepdim, greatest=False)


def _with_index(value: Value, dim: int, keepdim: bool, *, greatest: bool) -> tuple[Value, Tensor]:
    if not value.ndim:
        return value, torch.tensor(0)
    index = (torch.max if greatest else torch.min)(value.shadow, dim, keepdim=True).indices
    result = _chosen(value, index, dim, greatest=greatest)
    if keepdim:
        return result, index
    return result.move(lambda one: one.squeeze(dim)), index.squeeze(dim)


@rule("max.dim")
def _max_dim(value: Value, dim: int, keepdim: bool = False) -> tuple[Value, Tensor]:
    return _with_index(value, dim, keepdim, greatest=True)


@rule("min.dim")
def _min_dim(value: Value, dim: int, keepdim: bool = False) -> tuple[Value, Tensor]:
    return _with_index(value, dim, keepdim, greatest=False)


@rule("argmax")
def _argmax(value: Value, dim: Any = None, keepdim: bool = False) -> Tensor:
    return torch.argmax(value.shadow, dim, keepdim)


@rule("argmin")
def _argmin(value: Value, dim: Any = None, keepdim: bool = False) -> Tensor:
    return torch.argmin(value.shadow, dim, keepdim)


def _note_sorted_ties(value: Value, dim: int) -> None:
    """Neighbours that are equal in a sorted tensor."""
    if current().depends and value.ndim and value.shape[dim] > 1:
        size = value.shape[dim]
        left = value.move(lambda one: one.narrow(dim, 0, size - 1))
        right = value.move(lambda one: one.narrow(dim, 1, size - 1))
        if bool(((left.shadow == right.shadow) & ~is_same(left, right)).any()):
            current().kink("a tie of sorted values")


@rule("sort.default", "sort.stable")
def _sort(value: Value, *arguments: Any, **options: Any) -> tuple[Value, Tensor]:
    index: Tensor = torch.ops.aten.sort(value.shadow, *arguments, **options)[1]
    dims = [one for one in arguments if isinstance(one, int) and not isinstance(one, bool)]
    dim = options.get("dim", dims[0] if dims else -1)
    result = value.move(lambda one: one.gather(dim, index)) if value.ndim else value
    _note_sorted_ties(result, dim)
    return result, index


@rule("argsort")
def _argsort(value: Value, *arguments: Any, **options: Any) -> Tensor:
    return torch.argsort(value.shadow, *arguments, **options)


@rule("topk")
def _topk(value: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Value, Tensor]:  # noqa: A002  # torch's name
    index = torch.topk(value.shadow, k, dim, largest, sorted).indices
    return (value.move(lambda one: one.gather(dim, index)) if value.ndim else value), index


@rule("kthvalue")
def _kthvalue(value: Value, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Value, Tensor]:
    if not value.ndim:
        return value, torch.tensor(0)
    index = torch.kthvalue(value.shadow, k, dim, True).indices
    return _picked(value, index, dim, keepdim)


@rule("median.dim")
def _median_dim(value: Value, dim: int, keepdim: bool = False) -> tuple[Value, Tensor]:
    if not value.ndim:
        return value, torch.tensor(0)
    index = torch.median(value.shadow, dim, True).indices
    return _picked(value, index, dim, keepdim)


@rule("nanmedian.dim")
def _nanmedian_dim(value: Value, dim: int, keepdim: bool = False) -> tuple[Value, Tensor]:
    if not value.ndim:
        return value, torch.tensor(0)
    index = torch.nanmedian(value.shadow, dim, True).indices
    return _picked(value, index, dim, keepdim)


@rule("mode")
def _mode(value: Value, dim: int = -1, keepdim: bool = False) -> tuple[Value, Tensor]:
    if not value.ndim:
        return value, torch.tensor(0)
    index = torch.mode(value.shadow, dim, True).indices
    return _picked(value, index, dim, keepdim)


def _picked(value: Value, index: Tensor, dim: int, keepdim: bool) -> tuple[Value, Tensor]:
    result = value.move(lambda one: one.gather(dim, index))
    if keepdim:
        return result, index
    return result.move(lambda one: one.squeeze(dim)), index.squeeze(dim)


@rule("median.default")
def _median(value: Value) -> Value:
    result: Value = _median_dim(value.move(lambda one: one.reshape(-1)), 0)[0]
    return result


@rule("nanmedian.default")
def _nanmedian(value: Value) -> Value:
    result: Value = _nanmedian_dim(value.move(lambda one: one.reshape(-1)), 0)[0]
    return result


@rule("cummax")
def _cummax(value: Value, dim: int) -> tuple[Value, Tensor]:
    index = torch.cummax(value.shadow, dim).indices
    return (value.move(lambda one: one.gather(dim, index)) if value.ndim else value), index


@rule("cummin")
def _cummin(value: Value, dim: int) -> tuple[Value, Tensor]:
    index = torch.cummin(value.shadow, dim).indices
    return (value.move(lambda one: one.gather(dim, index)) if value.ndim else value), index


@rule("logcumsumexp")
def _logcumsumexp(value: Value, dim: int) -> Value:
    if not value.ndim:
        return value
    return with_shadow(log(_cumsum(exp(value), dim)), torch.logcumsumexp(value.shadow, dim))


@rule("logsumexp")
def _logsumexp(value: Value, dim: Any, keepdim: bool = False) -> Value:
    result = log(total(exp(value), dims_of(dim), keepdim=keepdim))
    return with_shadow(result, torch.logsumexp(value.shadow, dims_of(dim), keepdim=keepdim))
