"""`x[key]` and `x[key] = value`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.atoms import Symbol
from shaped.spec.dims import ONE, ZERO, Dim, ceildiv, maximum, minimum
from shaped.spec.expr import TRUE, Condition, both, index_zero
from shaped.spec.index import Index, Lookup, is_nonnegative, split
from shaped.spec.meanings.creation import as_dtype, from_data
from shaped.spec.meanings.expansion import expanded
from shaped.spec.meanings.lookups import at_value, wrapped
from shaped.spec.meanings.places import (
    at_least,
    chosen,
    entry,
    fresh_axis,
    in_range,
    new_axis,
    place_of,
    with_axes,
)
from shaped.spec.meanings.sizes import as_dim, axis_size, is_size
from shaped.spec.meanings.splitting import MOST_PIECES
from shaped.spec.tensor import Axis, Body, NotExpressible, Tensor, broadcast, with_entry


@dataclass(frozen=True)
class _Slice:
    """Places `start + step*i` for `i < length` on an axis; the step is positive."""

    start: Dim
    step: Dim
    length: Dim


@dataclass(frozen=True)
class _Taken:
    """Places that an int tensor says."""

    index: Tensor


# What a key says of one axis of the tensor; a `Dim` is one place. None adds an axis.
_Part = _Slice | _Taken | Dim | None


def getitem(input: Tensor, key: object) -> Tensor:
    """The part of a tensor that a key names, by torch's rules.

    Raises:
        ShapeError: the key has too many parts, or names a place beyond an axis.
        NotExpressible: how many entries are taken depends on values, or a bound's sign on sizes.
    """
    return _taken(input, _read(input, key))


def _taken(input: Tensor, parts: Sequence[_Part]) -> Tensor:
    axes, places, _ = _result_axes(input, parts)

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


_Place = Dim | tuple[Tensor, tuple[Dim, ...]]


def _result_axes(input: Tensor, parts: Sequence[_Part]) -> tuple[list[Axis], list[_Place], list[Axis]]:
    """The axes of what a key takes, and for each axis of the tensor the place there in their indices.

    Int tensors are broadcast together. Their axes stand where the first of them stood, or in front if other axes lie
    between them; an axis that an int takes is gone before.
    """
    indices = [part.index for part in parts if isinstance(part, _Taken)]
    shared = list(broadcast(*indices)) if indices else []
    shared_places = tuple(place_of(axis) for axis in shared)
    kept = [part for part in parts if not isinstance(part, Dim)]
    lookups = [number for number, part in enumerate(kept) if isinstance(part, _Taken)]
    together = not lookups or lookups == list(range(lookups[0], lookups[-1] + 1))
    first = next((number for number, part in enumerate(parts) if isinstance(part, _Taken)), None)
    axes: list[Axis] = [] if together else list(shared)
    places: list[_Place] = []
    own = iter(input.axes)
    for number, part in enumerate(parts):
        if together and number == first:
            axes += shared
        if part is None:
            axes.append(())
            continue
        axis = next(own)
        if isinstance(part, Dim):
            places.append(part)
        elif isinstance(part, _Taken):
            places.append((part.index, shared_places[len(shared) - part.index.rank :]))
        else:
            whole = part.start == 0 and part.step == 1 and part.length == axis_size(axis)
            made = fresh_axis(axis) if whole else new_axis(part.length)
            axes.append(made)
            places.append(place_of(made) * part.step + part.start)
    return axes, places, shared


def _read(input: Tensor, key: object) -> tuple[_Part, ...]:
    """What a key says of each axis."""
    if isinstance(key, list) and not all(is_size(part) and not isinstance(part, bool) for part in key):
        raise NotExpressible("a list of lists, slices or masks as a key: write a tuple, or a tensor")
    given = list(key) if isinstance(key, tuple) else [key]
    used = sum(_axes_of(part) for part in given)
    if used > input.rank:
        raise ShapeError("getitem", f"{used} axes are indexed of {input.rank}")
    rest = [slice(None)] * (input.rank - used)
    elided = [number for number, part in enumerate(given) if part is Ellipsis]
    if len(elided) > 1:
        raise ShapeError("getitem", "`...` stands twice")
    at = elided[0] if elided else len(given)
    given[at : at + 1] = rest
    parts: list[_Part] = []
    sizes = iter(input.sizes)
    for part in given:
        parts.append(None if part is None else _read_part(part, next(sizes)))
    return tuple(parts)


def _axes_of(part: object) -> int:
    """How many axes a part of a key takes."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, bool) or (isinstance(part, Tensor) and part.kind == "bool"):
        raise NotExpressible("a mask as an index: how many entries it takes depends on its values")
    return 1


def _read_part(part: Any, size: Dim) -> _Part:
    if isinstance(part, slice):
        return _read_slice(part, size)
    if is_size(part):
        place = as_dim(part)
        place = place + size if is_nonnegative(-place - 1) else place
        if is_nonnegative(-place - 1) or is_nonnegative(place - size):
            raise ShapeError("getitem", f"index {as_dim(part)} is out of range for size {size}", dims=(size,))
        if not is_nonnegative(place):
            raise NotExpressible(f"index {place}, which may count from the end or not")
        return place
    index = part if isinstance(part, Tensor) else from_data(part)
    if index.kind == "bool":
        raise NotExpressible("a mask as an index: how many entries it takes depends on its values")
    if index.kind == "float" and index.sizes == (ZERO,):
        return _Slice(ZERO, ONE, ZERO)  # x[[]]
    if index.kind != "int":
        raise ShapeError("getitem", f"an index must be whole numbers, not {index.kind}")
    return _Taken(index)


def _read_slice(part: slice, size: Dim) -> _Slice:
    step = ONE if part.step is None else as_dim(part.step)
    if not is_nonnegative(step - 1):
        if is_nonnegative(-step):
            raise ShapeError("getitem", f"the step of a slice must be positive, not {step}")
        raise NotExpressible(f"a slice with step {step}, which need not be positive")
    start = ZERO if part.start is None else _bound(as_dim(part.start), size)
    stop = size if part.stop is None else _bound(as_dim(part.stop), size)
    length = stop - start
    if not is_nonnegative(length):
        length = ZERO if is_nonnegative(-length) else maximum(length, ZERO)
    return _Slice(start, step, ceildiv(length, step))


def _bound(bound: Dim, size: Dim) -> Dim:
    """A bound of a slice as a place from 0 to the size: negative ones count from the end, larger ones are the end.

    Raises:
        NotExpressible: whether it is negative depends on a size.
    """
    if is_nonnegative(bound):
        return size if is_nonnegative(bound - size) else bound if is_nonnegative(size - bound) else minimum(bound, size)
    if is_nonnegative(-bound - 1):
        counted = bound + size
        if is_nonnegative(counted):
            return counted
        return ZERO if is_nonnegative(-counted) else maximum(counted, ZERO)
    raise NotExpressible(f"a slice with bound {bound}, which may be negative or not")


def setitem(input: Tensor, key: object, value: object) -> None:
    """Write `value` into the part of a tensor that a key names.

    Raises:
        ShapeError: the value does not broadcast to the part.
        NotExpressible: an index may name a place twice, so that the order of writing matters.
    """
    given = as_dtype(_as_value(value), input.kind) if input.kind != "complex" else _as_value(value)
    body = _masked(input, key, given) if _is_mask(key) else _written(input, _read(input, key), given)
    input.body, input.imaginary = (body[0], body[1]) if isinstance(body, tuple) else (body, None)
    input.version += 1


def _as_value(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else from_data(value)


def _is_mask(key: object) -> bool:
    return isinstance(key, Tensor) and key.kind == "bool"


def _masked(input: Tensor, mask: Any, value: Tensor) -> Body:
    """`x[mask] = value` for one value or one along the axes that the mask leaves."""
    if mask.rank > input.rank or any(a != b for a, b in zip(mask.sizes, input.sizes)):
        raise ShapeError("setitem", f"a mask of shape {mask.sizes} for a tensor of shape {input.sizes}")
    rest = input.rank - mask.rank
    if value.rank > rest and value.sizes[value.rank - rest - 1] != 1:
        raise NotExpressible("a value for each entry that a mask takes")
    value = with_axes(value, value.axes[max(value.rank - rest, 0) :])
    places = input.places
    new = entry(expanded(value, input.sizes[mask.rank :]), places[mask.rank :])
    return chosen(mask.condition_at(*places[: mask.rank]), new, entry(input, places))


def _written(input: Tensor, parts: Sequence[_Part], value: Tensor) -> Body:
    """The entries after a write: those of the value where the place is written to, the old ones elsewhere."""
    axes, places, shared = _result_axes(input, parts)
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
        elif isinstance(part, _Slice):
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


def _place_in_slice(part: _Slice, at: Dim, size: Dim) -> tuple[Condition, Dim]:
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
