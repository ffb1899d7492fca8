"""Reductions over axes, running sums, and sums into places."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, add, applied, mul, number, settled
from shaped.runtime.compiled.rounding.formats import Format, format_of, growth
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import Axes, axes_of, centred, count_over, linear, mean, total


@rule("sum")
def sum_over(
    to: Format, self: Bounded, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> Bounded:
    return total(number(self, to), to, dim, keepdim)


@rule("mean")
def mean_over(
    to: Format, self: Bounded, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> Bounded:
    return mean(number(self, to), to, dim, keepdim)


@rule("var.correction")
def variance(
    to: Format, self: Bounded, dim: Axes = None, correction: float | None = None, keepdim: bool = False
) -> Bounded:
    return variance_and_mean(to, self, dim, correction, keepdim)[0]


@rule("var_mean.correction")
def variance_and_mean(
    to: Format, self: Bounded, dim: Axes = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Bounded, Bounded]:
    x = number(self, to)
    average, rest = centred(x, to, dim)
    correction = 1 if correction is None else correction
    squares = mean(mul(rest, rest, to), to, dim, keepdim, correction=correction)
    return squares, average if keepdim else mean(x, to, dim)


@rule("std.correction")
def deviation(
    to: Format, self: Bounded, dim: Axes = None, correction: float | None = None, keepdim: bool = False
) -> Bounded:
    return applied(torch.sqrt, variance(to, self, dim, correction, keepdim), to, domain=0.0, least=0.0)


@rule("linalg_vector_norm", "norm")
def norm(
    to: Format,
    self: Bounded,
    ord: float = 2,  # noqa: A002  # torch's name
    dim: Axes = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    *,
    p: float | None = None,
) -> Bounded:
    x = number(self, to)
    order = ord if p is None else p
    size = applied(torch.abs, x, to, roundings=0.0, turns=(0.0,), least=0.0)
    if order == math.inf:
        return greatest(to, size, dim, keepdim)
    if order == 1:
        return total(size, to, dim, keepdim)
    if order == 2:
        return applied(torch.sqrt, total(mul(size, size, to), to, dim, keepdim), to, domain=0.0, least=0.0)
    powers = applied(lambda t: t.pow(order), size, to, domain=0.0, least=0.0)
    return applied(lambda t: t.pow(1 / order), total(powers, to, dim, keepdim), to, domain=0.0, least=0.0)


@rule("amax")
def greatest(to: Format, self: Bounded, dim: Axes = (), keepdim: bool = False) -> Bounded:
    """The greatest is between the greatest of the lower ends and that of the upper ends."""
    x = number(self, to)
    over = axes_of(x.value, dim)
    value = x.value.amax(over, keepdim) if over else x.value.clone()
    if x.is_exact:
        return Bounded(value, torch.zeros_like(value), to, least=x.least)
    low, high = (x.low.amax(over, keepdim), x.high.amax(over, keepdim)) if over else (x.low, x.high)
    exact = torch.where(x.bound > 0, -math.inf, x.value)
    highest_exact = exact.amax(over, keepdim) if over else exact
    inexact = torch.where(x.bound > 0, x.high, -math.inf)
    highest_other = inexact.amax(over, keepdim) if over else inexact
    decided = highest_exact >= highest_other
    error = torch.where(decided, 0.0, torch.maximum(high - value, value - low))
    return settled(value, error, to, least=x.least, same=decided, stored=False)


@rule("amin")
def least(to: Format, self: Bounded, dim: Axes = (), keepdim: bool = False) -> Bounded:
    x = number(self, to)
    found = greatest(to, Bounded(-x.value, x.bound, to), dim, keepdim)
    return Bounded(-found.value, found.bound, to)


@rule("max.default")
def greatest_of_all(to: Format, self: Bounded) -> Bounded:
    return greatest(to, self)


@rule("min.default")
def least_of_all(to: Format, self: Bounded) -> Bounded:
    return least(to, self)


def _place(x: Bounded, dim: int, keepdim: bool) -> Bounded:
    """Where the greatest entry is: undecided where rounding may lift another one above it.

    Of equal entries that are exact, the first, as torch's kernels have it.
    """
    place = x.value.argmax(dim, keepdim=True)
    is_first = torch.zeros_like(x.value, dtype=torch.bool).scatter(dim, place, True)
    others = torch.where(is_first, -math.inf, x.high).amax(dim, keepdim=True)
    low = x.low.gather(dim, place)
    tied = torch.where(is_first, 0.0, torch.where(x.value == x.value.gather(dim, place), x.bound, 0.0))
    own = x.bound.gather(dim, place)
    exact_tie = (tied.amax(dim, keepdim=True) == 0) & (own == 0)
    rivals = torch.where(x.bound > 0, torch.where(is_first, -math.inf, x.high), -math.inf).amax(dim, keepdim=True)
    undecided = torch.where(exact_tie, rivals >= x.value.gather(dim, place), others >= low)
    bound = torch.where(undecided, math.inf, 0.0)
    if not keepdim:
        place, bound = place.squeeze(dim), bound.squeeze(dim)
    return Bounded(place, bound, format_of(torch.int64))


@rule("max.dim")
def greatest_with_place(to: Format, self: Bounded, dim: int, keepdim: bool = False) -> tuple[Bounded, Bounded]:
    x = number(self, to)
    return greatest(to, x, dim, keepdim), _place(x, dim, keepdim)


@rule("min.dim")
def least_with_place(to: Format, self: Bounded, dim: int, keepdim: bool = False) -> tuple[Bounded, Bounded]:
    x = number(self, to)
    return least(to, x, dim, keepdim), _place(Bounded(-x.value, x.bound, x.format), dim, keepdim)


def _place_in(x: Bounded, dim: int | None, keepdim: bool) -> Bounded:
    if dim is None:
        flat = Bounded(x.value.reshape(-1), x.bound.reshape(-1), x.format)
        found = _place(flat, 0, False)
        shape = (1,) * x.value.ndim if keepdim else ()
        return Bounded(found.value.reshape(shape), found.bound.reshape(shape), found.format)
    return _place(x, dim, keepdim)


@rule("argmax")
def argmax(to: Format, self: Bounded, dim: int | None = None, keepdim: bool = False) -> Bounded:
    return _place_in(self, dim, keepdim)


@rule("argmin")
def argmin(to: Format, self: Bounded, dim: int | None = None, keepdim: bool = False) -> Bounded:
    return _place_in(Bounded(-self.value, self.bound, self.format), dim, keepdim)


@rule("cumsum")
def running_sum(to: Format, self: Bounded, dim: int, dtype: torch.dtype | None = None) -> Bounded:
    count = self.value.shape[dim] if self.value.ndim else 1
    return linear(lambda x: x.cumsum(dim), number(self, to), count, to)


@rule("prod")
def product(
    to: Format, self: Bounded, dim: int | None = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> Bounded:
    x = number(self, to)
    value = x.value.prod() if dim is None else x.value.prod(dim, keepdim)
    reach = x.value.abs() + x.bound
    reached = reach.prod() if dim is None else reach.prod(dim, keepdim)
    size = value.abs()
    count = count_over(x.value, dim)
    # A product may be held in 16 bits, as torch holds it.
    error = (reached - size).clamp(min=0) + growth(count * to.precision) * reached
    return settled(value, error * (1 + count * 2.0**-50) + reached * count * 2.0**-50 + to.least_normal, to)


def _most(function_of_ones: Tensor) -> float:
    return float(function_of_ones.max()) if function_of_ones.numel() else 0.0


def _undecided(result: Bounded, *places: Bounded | None) -> Bounded:
    """No bound where the places of entries are undecided."""
    if any(each is not None and not each.is_exact for each in places):
        result.bound = torch.full_like(result.bound, math.inf)
    return result


@rule("scatter_add")
def scatter_add(to: Format, self: Bounded, dim: int, index: Bounded, src: Bounded) -> Bounded:
    start = torch.zeros_like(self.value)
    most = _most(start.scatter_add(dim, index.value, torch.ones_like(src.value)))
    added = linear(lambda x: start.scatter_add(dim, index.value, x), src, most, to)
    return _undecided(add(self, added, to), index)


@rule("index_add")
def index_add(to: Format, self: Bounded, dim: int, index: Bounded, source: Bounded, alpha: float = 1) -> Bounded:
    start = torch.zeros_like(self.value)
    most = _most(start.index_add(dim, index.value, torch.ones_like(source.value)))
    added = linear(lambda x: start.index_add(dim, index.value, x), source, most, to)
    return _undecided(add(self, mul(added, alpha, to), to), index)


@rule("index_put", "_unsafe_index_put")
def index_put(
    to: Format, self: Bounded, indices: Sequence[Bounded | None], values: Bounded, accumulate: bool = False
) -> Bounded:
    places = [None if each is None else each.value for each in indices]
    self, values = number(self, to), number(values, to)
    if not accumulate:
        value = torch.ops.aten.index_put(self.value, places, values.value)
        bound = torch.ops.aten.index_put(self.bound, places, values.bound)
        return _undecided(Bounded(value, bound, to), *indices)
    start = torch.zeros_like(self.value)

    def function(x: Tensor) -> Tensor:
        put: Tensor = torch.ops.aten.index_put(start, places, x, True)
        return put

    added = linear(function, values, _most(function(torch.ones_like(values.value))), to)
    return _undecided(add(self, added, to), *indices)


@rule("embedding_dense_backward")
def embedding_backward(
    to: Format, grad_output: Bounded, indices: Bounded, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Bounded:
    def function(x: Tensor) -> Tensor:
        summed: Tensor = torch.ops.aten.embedding_dense_backward(
            x, indices.value, num_weights, padding_idx, scale_grad_by_freq
        )
        return summed

    counts = indices.value.reshape(-1).bincount(minlength=1)
    return _undecided(linear(function, grad_output, _most(counts), to), indices)
