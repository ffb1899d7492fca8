"""Reading entries at other places and choosing between entries, whatever kind of number they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.expr import FALSE, TRUE, Condition, Expr, both, index_nonnegative, negation, real, where
from shaped.spec.index import flatten, fresh_index, is_nonnegative
from shaped.spec.meanings.sizes import axis_size
from shaped.spec.tensor import Axis, Body, Tensor, with_entry


def entry(operand: Tensor, places: Sequence[Dim]) -> Body:
    """The entry at a place: a condition of a bool tensor, a pair of a complex one."""
    if operand.kind == "complex":
        body = operand.body_at(*places)
        assert isinstance(body, Expr)
        return body, operand.imaginary_at(*places)
    return operand.condition_at(*places) if operand.kind == "bool" else operand.at(*places)


def chosen(condition: Condition, then: Body, otherwise: Body) -> Body:
    """One of two entries of one kind."""
    if isinstance(then, Condition):
        assert isinstance(otherwise, Condition)
        return both(condition, then) | both(negation(condition), otherwise)
    if isinstance(then, tuple):
        assert isinstance(otherwise, tuple)
        return where(condition, then[0], otherwise[0]), where(condition, then[1], otherwise[1])
    assert isinstance(otherwise, Expr)
    return where(condition, then, otherwise)


def nothing(kind: str) -> Body:
    """The entry 0 of a kind of tensor."""
    if kind == "bool":
        return FALSE
    return (real(0), real(0)) if kind == "complex" else real(0)


def in_range(place: Dim, size: Dim) -> Condition:
    """`0 <= place < size`, without what follows from the ranges of the indices."""
    return both(at_least(place, Dim.of(0)), at_least(size - 1, place))


def at_least(place: Dim, low: Dim) -> Condition:
    """`place >= low`, `TRUE` where that follows from the ranges of the indices."""
    return TRUE if is_nonnegative(place - low) else index_nonnegative(place - low)


def fresh_axis(axis: Axis) -> Axis:
    """An axis of the same factors."""
    return tuple(fresh_index(index.size, index.name) for index in axis)


def place_of(axis: Axis) -> Dim:
    """The place on an axis that its indices say."""
    return flatten([index.dim for index in axis], [index.size for index in axis])


def new_axis(size: Dim, name: str = "i") -> Axis:
    """An axis of this size."""
    return () if size == 1 else (fresh_index(size, name),)


def common_axis(operation: str, *axes: Axis) -> Axis:
    """An axis like all of these, of the finest factors.

    Raises:
        ShapeError: the sizes differ.
    """
    finest = max(axes, key=len)
    for axis in axes:
        sizes = axis_size(axes[0]), axis_size(axis)
        if sizes[0] != sizes[1]:
            raise ShapeError(operation, f"sizes {sizes[0]} and {sizes[1]} differ", dims=sizes)
    return fresh_axis(finest)


def with_axes(operand: Tensor, axes: Sequence[Axis]) -> Tensor:
    """The same entries under axes in another order or grouping, made of the same indices."""
    return Tensor(axes, operand.body, operand.kind, operand.imaginary)


def taken(operand: Tensor, axes: Sequence[Axis], places: Callable[..., Sequence[Dim]]) -> Tensor:
    """The tensor with these axes whose entry is that of `operand` at `places` of the own place."""
    return with_entry(axes, entry(operand, tuple(places(*(place_of(axis) for axis in axes)))), operand.kind)
