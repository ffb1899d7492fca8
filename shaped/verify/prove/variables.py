"""Given tensors whose axes keep the factors that an annotation or an output says: `g*c` is an axis of g times c places.

A program that splits such an axis then meets the factors themselves, with no division.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaped.spec.atoms import Symbol
from shaped.spec.dims import ONE, Dim
from shaped.spec.expr import Entry, Flag, Variable, Whole
from shaped.spec.index import Index, Lookup, flatten, fresh_index
from shaped.spec.tensor import Axis, Tensor, factors_of, variable_on

_NAMES = "ijklpqrstuvw"


def given_tensor(
    name: str, axes: Sequence[Sequence[Dim]], kind: str, bound: Dim | None = None, low: int | None = 0
) -> Tensor:
    """A tensor that is given.

    Args:
        name: how it is called.
        axes: for each axis the sizes of its factors, major first.
        kind: "float", "int", "bool" or "complex".
        bound: above all its integers.
        low: at most all its integers, None where they may be any.
    """
    made: list[Axis] = []
    for number, factors in enumerate(axes):
        letter = _NAMES[number % len(_NAMES)]
        made.append(tuple(fresh_index(size, letter) for size in factors if size != ONE))
    return variable_on(name, made, kind, bound, low)


def like(name: str, tensor: Tensor) -> Tensor:
    """A tensor that is given, with the axes of another one, of floats or complex numbers."""
    axes = [[index.size for index in axis] for axis in tensor.axes]
    return given_tensor(name, axes, "complex" if tensor.kind == "complex" else "float")


def variables_of(tensor: Tensor) -> list[Variable]:
    """The variable that a given tensor is, or its real and imaginary part."""
    parts = [tensor.body] if tensor.imaginary is None else [tensor.body, tensor.imaginary]
    found = [part.variable for part in parts if isinstance(part, (Entry, Flag))]
    assert len(found) == len(parts), "a given tensor is a variable"
    return found


def own_sizes(tensor: Tensor) -> tuple[Dim, ...]:
    """The sizes of the axes of the variable that a given tensor is: those of the factors."""
    return factors_of(tensor.axes)[0]


def free_place(tensor: Tensor) -> tuple[tuple[Index, ...], tuple[Dim, ...]]:
    """A place of a given tensor: an index for each axis of its variable, and the places on its own axes."""
    indices: list[Index] = []
    places: list[Dim] = []
    for axis in tensor.axes:
        own = tuple(fresh_index(index.size, index.name) for index in axis)
        indices += own or (fresh_index(ONE),)
        places.append(flatten([index.dim for index in own], [index.size for index in own]))
    return tuple(indices), tuple(places)


def bound_of(tensor: Tensor) -> Dim | None:
    """What the entries of a given int tensor are below, None if that is not known."""
    body = tensor.body
    symbol = body.dim.symbol if isinstance(body, Whole) else None
    return symbol.size if isinstance(symbol, Lookup) else None


def shape_at(sizes: Sequence[Dim], values: Mapping[Symbol, int]) -> tuple[int, ...]:
    """Sizes as numbers."""
    return tuple(size.evaluate(values) for size in sizes)
