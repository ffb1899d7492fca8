"""What an operation takes and gives: tensors by their types, ints by their sizes, and what was not followed."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Union

from shaped.spec.dims import Dim
from shaped.spec.dtypes import ANY_DTYPE, DType
from shaped.spec.shape import Axis, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shaped.spec.op import Module
    from shaped.spec.provenance import Made


class Unknown(enum.Enum):
    """The type of `UNKNOWN`, for exact typing."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(frozen=True)
class TensorType:
    """All that is known of a tensor: its shape, the dtypes it may have, its device (None if not known).

    `joined` says that its shape was joined from several paths, so that what holds for only some named sizes is no error
    with it. `merged` gives the factors, outermost first, of axes that were put together of others (`axis_order`): of
    each axis whose size is their product. `made` is what is remembered of the operation that made it (`provenance`),
    `extent` its least and greatest element where both are known (`extent`). An operation that does not say that it
    keeps these drops them.
    """

    shape: Shape
    dtype: DType = ANY_DTYPE
    device: str | None = None
    joined: bool = False
    merged: tuple[tuple[Dim, ...], ...] = ()
    made: Made | None = None
    extent: tuple[Dim, Dim] | None = None

    @staticmethod
    def of(*axes: Axis | int, dtype: DType = ANY_DTYPE) -> TensorType:
        """The tensor with these axes."""
        return TensorType(Shape.of(*axes), dtype)

    def with_shape(self, shape: Shape) -> TensorType:
        """A tensor of the same dtype and device with another shape, of which nothing is remembered."""
        return TensorType(shape, self.dtype, self.device, self.joined)

    def with_dtype(self, dtype: DType) -> TensorType:
        """A tensor of the same shape and device with another dtype."""
        return replace(self, dtype=dtype)

    def __str__(self) -> str:
        return str(self.shape)


@dataclass(frozen=True)
class Device:
    """A `torch.device`: `cpu`, `cuda:1`, `cuda` for the current one of these; None if it is not known which."""

    name: str | None


@dataclass(frozen=True)
class Ratio:
    """A float that is the true quotient of two ints, as `t / 2` gives."""

    numerator: Dim
    denominator: Dim


@dataclass(frozen=True)
class Many:
    """A tuple or list of `length` values of one kind, as `split` gives where its parts are not counted."""

    element: Value
    length: Dim


# bool stands before the numbers in every match: a Python bool is an int, a Dim is not.
Value = Union[
    TensorType, Dim, Ratio, bool, float, str, None, DType, Device, "tuple[Value, ...]", Many, "Module", Unknown
]


def tensors_among(values: Iterable[Value]) -> Iterator[TensorType]:
    """The tensors among arguments, in lists too."""
    for value in values:
        if isinstance(value, TensorType):
            yield value
        elif isinstance(value, tuple):
            yield from tensors_among(value)
