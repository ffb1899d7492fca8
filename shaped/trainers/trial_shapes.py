"""The sizes to try a loss with, where an axis of an input may have any."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from shaped.spec.annotation import AnonymousPack, Fixed, Named, NamedPack
from shaped.spec.axis_arithmetic import Computed
from shaped.spec.dims import Dim

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import Tensor

    from shaped.spec.annotation import AnnotatedAxis
    from shaped.spec.binding import Bindings
    from shaped.trainers.declared import Declared

# Few and many, odd and even, and some that images and texts often have.
_SIZES = (2, 1, 3, 4, 8, 16, 32, 64, 224)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def choices(declared: Sequence[Declared], params: Sequence[Tensor], bindings: Bindings) -> Iterator[dict[str, int]]:
    """Sizes for all names of axes that are not bound, in several ways; once if there are none."""
    fixed = {name: dim.constant for name, dim in bindings.dims.items() if dim.constant is not None}
    free = sorted({name for each in declared for axis in each.annotation.axes for name in _names(axis)} - set(fixed))
    has_unnamed = any(not isinstance(axis, Fixed) for each in declared for axis in each.annotation.axes)
    if not free and not has_unnamed:
        yield fixed
        return
    constants = {size for param in params for size in param.shape}
    constants |= {axis.size for each in declared for axis in each.annotation.axes if isinstance(axis, Fixed)}
    for size in dict.fromkeys((*_SIZES, *sorted(constants))):
        yield {**dict.fromkeys(free, size), **fixed, "": size}
    yield {**dict(zip(free, itertools.cycle(_PRIMES))), **fixed, "": 29}


def _names(axis: AnnotatedAxis) -> tuple[str, ...]:
    if isinstance(axis, Computed):
        return tuple(axis.names)
    return (axis.name,) if isinstance(axis, (Named, NamedPack)) else ()


def shape_of(declared: Declared, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """The shape of an input for chosen sizes, one axis for what may be several; None if there is none."""
    shape: list[int] = []
    for axis in declared.annotation.axes:
        if isinstance(axis, Fixed):
            shape.append(axis.size)
        elif isinstance(axis, (Named, NamedPack)):
            shape.append(sizes[axis.name])
        elif isinstance(axis, Computed):
            size = axis.size({name: Dim.of(value) for name, value in sizes.items() if name}, None)
            if size is None or size.constant is None or size.constant < 0:
                return None
            shape.append(size.constant)
        elif not isinstance(axis, AnonymousPack):
            shape.append(sizes[""])
    return tuple(shape)


def integer_dtype(declared: Declared) -> torch.dtype:
    """A dtype that an integer input may have."""
    names = declared.annotation.dtype.names
    name = next((each for each in ("int64", "int32", "uint8", "bool") if each in names), None)
    return getattr(torch, name or min(names))  # type: ignore[no-any-return]  # a dtype by its name
