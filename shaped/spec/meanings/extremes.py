"""The greatest and least element over axes, and where it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from shaped.spec.dims import Dim, product
from shaped.spec.expr import (
    Condition,
    Exists,
    Expr,
    Greatest,
    Sum,
    Variable,
    both,
    index_nonnegative,
    negation,
    real,
    where,
)
from shaped.spec.index import fresh_index, split
from shaped.spec.meaning import backward, meaning
from shaped.spec.meanings.comparison import as_bool
from shaped.spec.meanings.kinds import converted
from shaped.spec.meanings.order import is_equal, is_greater
from shaped.spec.meanings.pairs import maximum, minimum
from shaped.spec.meanings.reduction import Dims, as_dims, chosen_axes, repeated
from shaped.spec.tensor import Axis, Tensor, build, greatest, reduced, summed


class ValuesAndIndices(NamedTuple):
    """The result of `max` along an axis."""

    values: Tensor
    indices: Tensor


@meaning("amax", kinks="several greatest: each an equal share")
def amax(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    result = _greatest(input, as_dims(dim), keepdim)
    return converted(result, input.kind) if input.kind != "bool" else as_bool(result)


def _greatest(input: Tensor, dims: Sequence[int], keepdim: bool) -> Tensor:
    """The greatest element over axes; over several by one index for all of them, so that ties share evenly."""
    chosen = chosen_axes(input, dims)
    if sum(len(input.axes[axis]) for axis in chosen) < 2:
        return reduced(Greatest, input, chosen, keepdim)
    sizes = [input.sizes[axis] for axis in chosen]

    def entry(k: Dim) -> Expr:
        at = dict(zip(chosen, split(k, sizes)))
        return input.at(*(at.get(axis, place) for axis, place in enumerate(input.places)))

    axes = [() if axis in chosen else indices for axis, indices in enumerate(input.axes)]
    kept = axes if keepdim else [indices for axis, indices in enumerate(axes) if axis not in chosen]
    return Tensor(kept, greatest(product(sizes), entry), "int" if input.kind == "bool" else input.kind)


@meaning("amin", kinks="several least: each an equal share")
def amin(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    if input.kind == "bool":
        return ~amax(~input, dim, keepdim)
    return -amax(-input, dim, keepdim)


@meaning("aminmax", kinks="several least or greatest: each an equal share")
def aminmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return amin(input, as_dims(dim), keepdim), amax(input, as_dims(dim), keepdim)


@backward("amax")
def amax_backward(grad: Tensor, input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _shared(grad, input, amax(input, dim, keepdim=True), dim, keepdim)


@backward("amin")
def amin_backward(grad: Tensor, input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    return _shared(grad, input, amin(input, dim, keepdim=True), dim, keepdim)


def _shared(grad: Tensor, input: Tensor, extreme: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """The gradient, in equal shares to the elements that are the extreme."""
    is_extreme = input == extreme
    ties = reduced(Sum, is_extreme, chosen_axes(input, dim), keepdim=True)
    return repeated(grad, input, dim, keepdim) * is_extreme / ties


_TIES = "several extremes: the first along an axis takes the gradient, over all axes they share it"


@meaning("max", kinks=_TIES)
def max(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, other: Tensor | None = None
) -> Tensor | ValuesAndIndices:
    second = dim if isinstance(dim, Tensor) else other
    if second is not None:
        return maximum(input, second)
    return amax(input) if dim is None else _first_extreme(input, int(dim), keepdim, True)


@meaning("min", kinks=_TIES)
def min(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False, other: Tensor | None = None
) -> Tensor | ValuesAndIndices:
    second = dim if isinstance(dim, Tensor) else other
    if second is not None:
        return minimum(input, second)
    return amin(input) if dim is None else _first_extreme(input, int(dim), keepdim, False)


@meaning("argmax")
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    given, axis = (input.flatten(), 0) if dim is None else (input, dim)
    return _first_extreme(given, axis, keepdim, True).indices


@meaning("argmin")
def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    given, axis = (input.flatten(), 0) if dim is None else (input, dim)
    return _first_extreme(given, axis, keepdim, False).indices


@dataclass(frozen=True)
class _FirstExtreme:
    """The first of the extremes along an axis, told from the others by conditions, as torch picks it.

    Args:
        input: the tensor.
        axis: the axis.
        is_better: whether a number beats another.
    """

    input: Tensor
    axis: int
    is_better: Callable[[Expr, Expr], Condition]

    def along(self, place: tuple[Dim, ...], k: Dim) -> Expr:
        """The element k along the axis."""
        return self.input.at(*place[: self.axis], k, *place[self.axis :])

    def is_first(self, place: tuple[Dim, ...], k: Dim) -> Condition:
        """Whether the element k is it."""
        value, other = self.along(place, k), fresh_index(self.input.sizes[self.axis], "l")
        rival = self.along(place, other.dim)
        is_earlier = both(index_nonnegative(k - other.dim - 1), is_equal(rival, value))
        return negation(Exists(other, self.is_better(rival, value) | is_earlier))

    def picked(self, place: tuple[Dim, ...], what: Callable[[Dim], Expr]) -> Expr:
        """`what` of its place: a sum in which a bracket keeps it alone, so that it takes all of the derivative."""
        return summed(self.input.sizes[self.axis], lambda k: where(self.is_first(place, k), what(k), 0))

    def sizes(self) -> tuple[Dim, ...]:
        """The sizes without the axis."""
        return (*self.input.sizes[: self.axis], *self.input.sizes[self.axis + 1 :])

    def values(self) -> Tensor:
        """The extremes: a tensor of its own, that proofs look into only where they need to."""
        sizes, kind = self.sizes(), self.input.kind
        if kind != "float":
            return build(sizes, lambda *place: self.picked(place, lambda k: self.along(place, k)), kind)
        indices = tuple(fresh_index(size) for size in sizes)
        place = tuple(index.dim for index in indices)
        body = self.picked(place, lambda k: self.along(place, k))
        named = Variable(f"extreme {next(_numbers)}", sizes, "float", (indices, body))  # no parameter has a blank
        return build(sizes, lambda *places: named[places])

    def indices(self) -> Tensor:
        """Their places along the axis: numbers, with which no axis can be indexed."""
        return build(self.sizes(), lambda *place: self.picked(place, real), "int")


_numbers = itertools.count(1)


@cache
def _first_extreme_of(body: Expr, axes: tuple[Axis, ...], kind: str, axis: int, is_greatest: bool) -> ValuesAndIndices:
    """The same tensors for the same input, so that the forward and the backward of a program speak of one extreme."""
    found = _FirstExtreme(Tensor(axes, body, kind), axis, is_greater if is_greatest else _is_less)
    return ValuesAndIndices(found.values(), found.indices())


def _is_less(x: Expr, y: Expr) -> Condition:
    return is_greater(y, x)


def _first_extreme(input: Tensor, dim: int, keepdim: bool, is_greatest: bool) -> ValuesAndIndices:
    """The extreme along an axis and its index."""
    if not input.rank:
        return ValuesAndIndices(input, build((), lambda: real(0), "int"))
    axis = input.axis(dim)
    body = input.at(*input.places)
    found = _first_extreme_of(body, input.axes, input.kind, axis, is_greatest)
    return ValuesAndIndices(*(_kept(each, axis) if keepdim else _kept(each, None) for each in found))


def _kept(result: Tensor, axis: int | None) -> Tensor:
    """A new tensor of the result, with the axis that was reduced if there is one."""
    axes = result.axes if axis is None else (*result.axes[:axis], (), *result.axes[axis:])
    return Tensor(axes, result.body, result.kind)
