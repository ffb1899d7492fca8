"""`x[key]` and `x[key] = value`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.atoms import Symbol
from shaped.spec.dims import ZERO, Dim
from shaped.spec.expr import TRUE, Condition, both, index_zero
from shaped.spec.index import Index, Lookup, is_nonnegative, split
from shaped.spec.meanings.creation import as_dtype, from_data
from shaped.spec.meanings.expansion import expanded
from shaped.spec.meanings.keys import Part, Slice, read_key, result_axes
from shaped.spec.meanings.lookups import at_value, wrapped
from shaped.spec.meanings.places import (
    at_least,
    chosen,
    entry,
    in_range,
    place_of,
    with_axes,
)
from shaped.spec.meanings.sizes import axis_size
from shaped.spec.meanings.splitting import MOST_PIECES
from shaped.spec.tensor import Axis, Body, NotExpressible, Tensor, with_entry


def getitem(input: Tensor, key: object) -> Tensor:
    """The part of a tensor that a key names, by torch's rules.

    Raises:
        ShapeError: the key has too many parts, or names a place beyond an axis.
        NotExpressible: how many entries are taken depends on values, or a bound's sign on sizes.
    """
    return _taken(input, read_key(input, key))


def _taken(input: Tensor, parts: Sequence[Part]) -> Tensor:
    axes, places, _ = result_axes(input, parts)

    def place_then(number: int, at: tuple[Dim, ...]) -> Body:
        """The entry, once the places on the axes from `number` on are known; lookups are followed one by one."""
        if number == input.rank:
            return entry(input, at)
        place = places[number]
        if isinstance(place, Dim):
            return place_then(number + 1, (*at, place))
        size = input.sizes[number]
        index, own = place
        return at_value(index, own, lambda value: wrapped(value, size, lambda dim: place_then(number + 1, (*at, dim))))

    return with_entry(axes, place_then(0, ()), input.kind)


def setitem(input: Tensor, key: object, value: object) -> None:
    """Write `value` into the part of a tensor that a key names.

    Raises:
        ShapeError: the value does not broadcast to the part.
        NotExpressible: an index may name a place twice, so that the order of writing matters.
    """
    given = as_dtype(value if isinstance(value, Tensor) else from_data(value), input.kind)
    body = _masked(input, key, given) if _is_mask(key) else _written(input, read_key(input, key), given)
    input.body, input.imaginary = (body[0], body[1]) if isinstance(body, tuple) else (body, None)
    input.version += 1


def _is_mask(key: object) -> bool:
    return isinstance(key, Tensor) and key.kind == "bool"


def _masked(input: Tensor, mask: Any, value: Tensor) -> Body:
    """`x[mask] = value` for one value or one along the axes that the mask leaves."""
    if mask.rank > input.rank or any(a != b for a, b in zip(mask.sizes, input.sizes)):
        raise ShapeError("setitem", f"a mask of shape {mask.sizes} for a tensor of shape {input.sizes}")
    rest = input.rank - mask.rank
    if any(size != 1 for size in value.sizes[: max(value.rank - rest, 0)]):
        raise NotExpressible("a value for each entry that a mask takes")
    value = with_axes(value, value.axes[max(value.rank - rest, 0) :])
    places = input.places
    new = entry(expanded(value, input.sizes[mask.rank :]), places[mask.rank :])
    return chosen(mask.condition_at(*places[: mask.rank]), new, entry(input, places))


def _written(input: Tensor, parts: Sequence[Part], value: Tensor) -> Body:
    """The entries after a write: those of the value where the place is written to, the old ones elsewhere."""
    axes, places, shared = result_axes(input, parts)
    sizes = [axis_size(axis) for axis in axes]
    while value.rank > len(sizes) and value.sizes[0] == 1:
        value = with_axes(value, value.axes[1:])
    value = expanded(value, sizes)
    own = input.places
    written: Condition = TRUE
    found: dict[Symbol, Dim] = {}
    given = iter(part for part in parts if part is not None)
    for place, axis, at, part in zip(places, input.axes, own, given):
        if isinstance(part, Dim):
            written = both(written, index_zero(at - part))
        elif isinstance(part, Slice):
            inside, solved = _place_in_slice(part, at, axis_size(axis))
            written = both(written, inside)
            found.update(_split_place(_axis_of_slice(axes, place), solved))
    lookups = [
        _Lookup(*place, at, size) for place, at, size in zip(places, own, input.sizes) if isinstance(place, tuple)
    ]
    body = entry(input, own)
    for condition, solved_shared in _writes(shared, lookups):
        solved_all = {**found, **solved_shared}
        at_result = tuple(place_of(axis).substitute(solved_all) for axis in axes)
        body = chosen(both(written, condition), entry(value, at_result), body)
    return body


@dataclass(frozen=True)
class _Lookup:
    """That an axis is written at the places that an int tensor says.

    Args:
        index: the int tensor.
        places: the place in it, in the indices of the broadcast int tensors.
        at: the place on the axis of the tensor that is written to.
        size: the size of that axis.
    """

    index: Tensor
    places: tuple[Dim, ...]
    at: Dim
    size: Dim

    def value(self, found: Mapping[Symbol, Dim]) -> Dim:
        """The place that is written, counted from the start, once the indices of the int tensors are known.

        Raises:
            NotExpressible: it may count from the end or not.
        """
        value = self.index.whole_at(*(place.substitute(found) for place in self.places))
        if is_nonnegative(value):
            return value
        if is_nonnegative(-value - 1):
            return value + self.size
        raise NotExpressible(f"writing at {value}, which may count from the end or not")


def _writes(shared: Sequence[Axis], lookups: Sequence[_Lookup]) -> list[tuple[Condition, dict[Symbol, Dim]]]:
    """The writes of a key with int tensors, one after the other: where, and the place in the int tensors.

    Raises:
        NotExpressible: two may write to one place, so that the last one would count.
    """
    if not lookups:
        return [(TRUE, {})]
    indices = [index for axis in shared for index in axis]
    counts = [index.size.constant for index in indices]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts) and math.prod(known) <= MOST_PIECES:
        return _single_writes(indices, known, lookups)
    found: dict[Symbol, Dim] = {index: _solved(index, lookups) for index in indices}
    written: Condition = TRUE
    for lookup in lookups:
        written = both(written, index_zero(lookup.at - lookup.value(found)))
    for index in indices:
        written = both(written, in_range(found[index], index.size))
    return [(written, found)]


def _single_writes(
    indices: Sequence[Index], counts: Sequence[int], lookups: Sequence[_Lookup]
) -> list[tuple[Condition, dict[Symbol, Dim]]]:
    """The writes of int tensors of a known number of entries, one for each entry."""
    writes: list[tuple[Condition, dict[Symbol, Dim]]] = []
    earlier: list[tuple[Dim, ...]] = []
    for place in itertools.product(*(range(count) for count in counts)):
        found: dict[Symbol, Dim] = {index: Dim.of(value) for index, value in zip(indices, place)}
        values = tuple(lookup.value(found) for lookup in lookups)
        if not all(any((a - b).constant for a, b in zip(values, other)) for other in earlier):
            raise _repeated()
        earlier.append(values)
        written: Condition = TRUE
        for lookup, value in zip(lookups, values):
            written = both(written, index_zero(lookup.at - value))
        writes.append((written, found))
    return writes


def _solved(index: Index, lookups: Sequence[_Lookup]) -> Dim:
    """The place of an index of int tensors at which an entry is written, from one that is `index` plus a constant."""
    for lookup in lookups:
        dim = lookup.index.whole_at(*lookup.places)
        for sign in (1, -1):
            rest = dim - sign * index.dim
            if not any(isinstance(symbol, (Index, Lookup)) for symbol in rest.symbols()):
                return sign * (lookup.at - rest)
    raise _repeated()


def _repeated() -> NotExpressible:
    return NotExpressible("writing at indices that may name a place twice, where the last write counts")


def _axis_of_slice(axes: Sequence[Axis], place: object) -> Axis:
    """The axis whose indices a place is made of; none where the slice has length 1."""
    assert isinstance(place, Dim)
    symbols = place.symbols()
    return next((axis for axis in axes if axis and axis[0] in symbols), ())


def _split_place(axis: Axis, place: Dim) -> dict[Symbol, Dim]:
    return dict(zip(axis, split(place, [index.size for index in axis]))) if axis else {}


def _place_in_slice(part: Slice, at: Dim, size: Dim) -> tuple[Condition, Dim]:
    """Whether a place of an axis belongs to a slice, and where in it."""
    offset = at - part.start
    inside = at_least(offset, ZERO)
    if part.step == 1:
        if part.start + part.length != size:
            inside = both(inside, at_least(part.length - 1 - offset, ZERO))
        return inside, offset
    whole = offset // part.step
    fits = index_zero(offset - part.step * whole)
    return both(both(inside, at_least(part.length - 1 - whole, ZERO)), fits), whole
