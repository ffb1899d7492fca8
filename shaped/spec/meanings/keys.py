"""Keys of `x[key]`: what they say of each axis, and the axes of what they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO, Dim, ceildiv, maximum, minimum
from shaped.spec.index import is_nonnegative
from shaped.spec.meanings.creation import from_data
from shaped.spec.meanings.places import fresh_axis, new_axis, place_of
from shaped.spec.meanings.sizes import as_dim, axis_size, is_size
from shaped.spec.tensor import Axis, NotExpressible, Tensor, broadcast


@dataclass(frozen=True)
class Slice:
    """Places `start + step*i` for `i < length` on an axis; the step is positive."""

    start: Dim
    step: Dim
    length: Dim


@dataclass(frozen=True)
class Taken:
    """Places that an int tensor says."""

    index: Tensor


# What a key says of one axis of the tensor; a `Dim` is one place. None adds an axis.
Part = Slice | Taken | Dim | None


# The place that a key names on an axis: an index expression, or what an int tensor says at its own places.
Place = Dim | tuple[Tensor, tuple[Dim, ...]]


def result_axes(input: Tensor, parts: Sequence[Part]) -> tuple[list[Axis], list[Place], list[Axis]]:
    """The axes of what a key takes, and for each axis of the tensor the place there in their indices.

    Int tensors are broadcast together. Their axes stand where the first of them stood, or in front if other axes lie
    between them; an axis that an int takes is gone before.
    """
    indices = [part.index for part in parts if isinstance(part, Taken)]
    shared = list(broadcast(*indices)) if indices else []
    shared_places = tuple(place_of(axis) for axis in shared)
    kept = [part for part in parts if not isinstance(part, Dim)]
    lookups = [number for number, part in enumerate(kept) if isinstance(part, Taken)]
    together = not lookups or lookups == list(range(lookups[0], lookups[-1] + 1))
    first = next((number for number, part in enumerate(parts) if isinstance(part, Taken)), None)
    axes: list[Axis] = [] if together else list(shared)
    places: list[Place] = []
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
        elif isinstance(part, Taken):
            places.append((part.index, shared_places[len(shared) - part.index.rank :]))
        else:
            whole = part.start == 0 and part.step == 1 and part.length == axis_size(axis)
            made = fresh_axis(axis) if whole else new_axis(part.length)
            axes.append(made)
            places.append(place_of(made) * part.step + part.start)
    return axes, places, shared


def read_key(input: Tensor, key: object) -> tuple[Part, ...]:
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
    parts: list[Part] = []
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


def _read_part(part: Any, size: Dim) -> Part:
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
        return Slice(ZERO, ONE, ZERO)  # x[[]]
    if index.kind != "int":
        raise ShapeError("getitem", f"an index must be whole numbers, not {index.kind}")
    return Taken(index)


def _read_slice(part: slice, size: Dim) -> Slice:
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
    return Slice(start, step, ceildiv(length, step))


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
