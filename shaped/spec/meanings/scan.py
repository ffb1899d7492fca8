"""Running sums, products and extremes along an axis, and differences of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.expr import (
    INFINITY,
    Condition,
    Exists,
    Expr,
    apply,
    both,
    index_nonnegative,
    index_zero,
    negation,
    real,
    where,
)
from shaped.spec.index import fresh_index
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.extremes import ValuesAndIndices
from shaped.spec.meanings.joining import cat
from shaped.spec.meanings.kinds import converted, promoted, requested
from shaped.spec.meanings.order import is_equal, is_greater
from shaped.spec.tensor import Tensor, build, greatest, multiplied, summed

if TYPE_CHECKING:
    from collections.abc import Callable


def along(
    input: Tensor, dim: int, entry: Callable[[Callable[[Dim], Expr], Dim], Expr], kind: str | None = None
) -> Tensor:
    """The tensor of the same sizes whose entry is `entry` of the elements along an axis, by place, and the place."""
    axis = input.axis(dim)

    def at(*places: Dim) -> Expr:
        return entry(lambda k: input.at(*places[:axis], k, *places[axis + 1 :]), places[axis])

    return build(input.sizes, at, kind or input.kind) if input.rank else input


def _until(i: Dim, k: Dim) -> Condition:
    """k <= i."""
    return index_nonnegative(i - k)


@meaning("cumsum")
def cumsum(input: Tensor, dim: int, dtype: object = None) -> Tensor:
    given = converted(input, requested(dtype, promoted(input, 0)))
    size = _size(input, dim)
    return along(given, dim, lambda x, i: summed(size, lambda k: where(_until(i, k), x(k), 0)))


def _size(input: Tensor, dim: int) -> Dim:
    return input.sizes[input.axis(dim)] if input.rank else Dim.of(1)


@backward("cumsum")
def cumsum_backward(grad: Tensor, input: Tensor, dim: int, dtype: object = None) -> Tensor:
    size = _size(input, dim)
    return along(grad, dim, lambda g, k: summed(size, lambda i: where(_until(i, k), g(i), 0)))


@meaning("cumprod")
def cumprod(input: Tensor, dim: int, dtype: object = None) -> Tensor:
    given = converted(input, requested(dtype, promoted(input, 0)))
    size = _size(input, dim)
    return along(given, dim, lambda x, i: multiplied(size, lambda k: where(_until(i, k), x(k), 1)))


@backward("cumprod")
def cumprod_backward(grad: Tensor, input: Tensor, dim: int, dtype: object = None) -> Tensor:
    """Each running product that an element is in, without it: a quotient by it would not be defined at 0."""
    size = _size(input, dim)

    def share(g: Callable[[Dim], Expr], x: Callable[[Dim], Expr], place: Dim) -> Expr:
        def others(i: Dim) -> Expr:
            return multiplied(size, lambda k: where(both(_until(i, k), negation(index_zero(k - place))), x(k), 1))

        return summed(size, lambda i: where(_until(i, place), g(i) * others(i), 0))

    axis = input.axis(dim)

    def at(*places: Dim) -> Expr:
        before, after = places[:axis], places[axis + 1 :]
        return share(lambda k: grad.at(*before, k, *after), lambda k: input.at(*before, k, *after), places[axis])

    return build(input.sizes, at) if input.rank else grad


@meaning("logcumsumexp")
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    size = _size(input, dim)

    def entry(x: Callable[[Dim], Expr], i: Dim) -> Expr:
        shift = greatest(size, lambda k: where(_until(i, k), x(k), -INFINITY))  # it cancels, and is how torch rounds it
        total = summed(size, lambda k: where(_until(i, k), apply("exp", x(k) - shift), 0))
        return apply("log", total) + shift

    return along(input, dim, entry, "float")


@backward("logcumsumexp")
def logcumsumexp_backward(grad: Tensor, input: Tensor, dim: int) -> Tensor:
    """To each element the share that it has in every sum which it is in."""
    if not input.rank:
        return grad
    axis, size, result = input.axis(dim), _size(input, dim), logcumsumexp(input, dim)

    def at(*places: Dim) -> Expr:
        def share(i: Dim) -> Expr:
            there = (*places[:axis], i, *places[axis + 1 :])
            weight = apply("exp", input.at(*places) - result.at(*there))
            return where(_until(i, places[axis]), grad.at(*there) * weight, 0)

        return summed(size, share)

    return build(input.sizes, at)


_TIES = "several extremes so far: the last takes the gradient"


@meaning("cummax", kinks=_TIES)
def cummax(input: Tensor, dim: int) -> ValuesAndIndices:
    return _running_extreme(input, dim, is_greater)


@meaning("cummin", kinks=_TIES)
def cummin(input: Tensor, dim: int) -> ValuesAndIndices:
    return _running_extreme(input, dim, lambda x, y: is_greater(y, x))


def _running_extreme(input: Tensor, dim: int, is_better: Callable[[Expr, Expr], Condition]) -> ValuesAndIndices:
    """The extreme so far and its index, by brackets that keep the last extreme alone."""
    size = _size(input, dim)

    def is_last(x: Callable[[Dim], Expr], k: Dim, i: Dim) -> Condition:
        other = fresh_index(size, "l")
        is_later = both(index_nonnegative(other.dim - k - 1), is_equal(x(other.dim), x(k)))
        rival = both(_until(i, other.dim), is_better(x(other.dim), x(k)) | is_later)
        return both(_until(i, k), negation(Exists(other, rival)))

    def picked(what: Callable[[Expr, Dim], Expr], kind: str) -> Tensor:
        return along(
            input,
            dim,
            lambda x, i: summed(size, lambda k: where(is_last(x, k, i), what(x(k), k), 0)),
            kind,
        )

    indices = picked(lambda value, k: real(k), "int") if input.rank else Tensor((), real(0), "int")
    return ValuesAndIndices(picked(lambda value, k: value, input.kind), indices)


@meaning("diff")
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    if n == 0:
        return input  # torch then takes nothing before or behind it
    parts = [part for part in (prepend, input, append) if part is not None]
    result = cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        result = _neighbours(result, dim, lambda here, there: there - here)
    return result


def _neighbours(input: Tensor, dim: int, entry: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """`entry` of the tensor without the last and without the first place of an axis."""
    axis = input.axis(dim)
    sizes = [*input.sizes[:axis], input.sizes[axis] - 1, *input.sizes[axis + 1 :]]

    def shifted(by: int) -> Tensor:
        return build(sizes, lambda *at: input.at(*at[:axis], at[axis] + by, *at[axis + 1 :]), input.kind)

    return entry(shifted(0), shifted(1))


@meaning("trapezoid", "trapz")
def trapezoid(y: Tensor, x: Tensor | None = None, dx: float = 1, dim: int = -1) -> Tensor:
    result: Tensor = _trapezoids(y, x, dx, dim).sum(dim)
    return result


@meaning("cumulative_trapezoid")
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, dx: float = 1, dim: int = -1) -> Tensor:
    return cumsum(_trapezoids(y, x, dx, dim), dim)


def _trapezoids(y: Tensor, x: Tensor | None, dx: float, dim: int) -> Tensor:
    """The areas below the lines between neighbours."""
    means = _neighbours(y, dim, lambda here, there: (here + there) / 2)
    if x is None:
        return means * dx
    if x.rank == 1 and y.rank > 1:
        behind = y.rank - 1 - y.axis(dim)
        x = Tensor((*x.axes, *[()] * behind), x.body, x.kind)
        return means * _neighbours(x, 0, lambda here, there: there - here)
    return means * _neighbours(x, dim, lambda here, there: there - here)
