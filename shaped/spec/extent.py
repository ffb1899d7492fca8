"""The least and the greatest number in a tensor that was written out or counted, and indices beyond an axis.

Known only where both numbers are elements for certain: of `torch.tensor([0, 3])` and of `torch.arange(1, n)`, and of
what only puts their elements in other places. So an index that is too large for every size is found where it is used,
as it is where an int is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from shaped.errors import ShapeError
from shaped.spec.dims import ZERO, Dim
from shaped.spec.dtypes import INTEGERS
from shaped.spec.facts import Status
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shaped.spec.context import Context

_FROM_DATA: Final = frozenset(["tensor", "as_tensor", "asarray", "scalar_tensor", "LongTensor", "IntTensor"])
# Whose results have the elements of their first argument, all of them.
_MOVE: Final = frozenset(
    [
        *("view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "ravel", "unsqueeze", "squeeze", "t"),
        *("transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "flip", "fliplr", "flipud", "roll"),
        *("expand", "expand_as", "broadcast_to", "repeat", "tile", "contiguous", "clone", "detach", "to", "long"),
        *("int", "cuda", "cpu", "type", "type_as", "pin_memory", "mT", "T", "alias", "positive"),
    ]
)


def with_extent(context: Context, operation: str, arguments: Mapping[str, Value], result: Value) -> Value:
    """The result of an operation with its extent, where that follows from the arguments.

    >>> from shaped.spec.context import Context
    >>> rows = TensorType.of(2)
    >>> with_extent(Context(), "tensor", {"data": (Dim.of(0), Dim.of(3))}, rows).extent == (ZERO, Dim.of(3))
    True
    """
    given = tuple(arguments.values())
    if operation == "arange":
        return _having(result, _counted(context, arguments))
    if operation in _FROM_DATA and given:
        return _having(result, given[0].extent if isinstance(given[0], TensorType) else extent_of(given[0]))
    first = given[0] if given else None
    if not any(isinstance(value, TensorType) and value.extent is not None for value in given):
        return result
    extent = None
    if isinstance(first, TensorType) and first.extent is not None:
        if operation in _MOVE and isinstance(result, TensorType) and result.dtype.is_all(INTEGERS):
            extent = first.extent
        elif operation == "add" and isinstance(given[1], Dim) and arguments.get("alpha", 1) == 1:
            # Not of a difference: `x - 1` and `1 - x` are one operation here.
            extent = first.extent[0] + given[1], first.extent[1] + given[1]
    return _having(result, extent)


def _having(result: Value, extent: tuple[Dim, Dim] | None) -> Value:
    if isinstance(result, tuple):
        return tuple(_having(part, extent) for part in result)
    if not isinstance(result, TensorType) or result.extent == extent:
        return result
    return replace(result, extent=None if ZERO in result.shape.axes else extent)


def _counted(context: Context, arguments: Mapping[str, Value]) -> tuple[Dim, Dim] | None:
    """The first and the last number of `arange`, if there is a first one."""
    bounds = arguments.get("bounds")
    given = list(bounds) if isinstance(bounds, tuple) else []
    if not 1 <= len(given) <= 2 or any(arguments.get(name) is not None for name in ("start", "end", "step")):
        return None
    start, end = (ZERO, given[0]) if len(given) == 1 else (given[0], given[1])
    if not isinstance(start, Dim) or not isinstance(end, Dim) or not context.is_at_least(end, start + 1):
        return None
    return start, end - 1


def extent_of(data: Value) -> tuple[Dim, Dim] | None:
    """The least and the greatest of the ints of nested lists, if all are known.

    >>> print(*extent_of((Dim.of(2), (Dim.of(-1), Dim.of(5)))))
    -1 5
    """
    found = list(_numbers(data))
    numbers = [number for number in found if number is not None]
    if not numbers or len(numbers) != len(found):
        return None
    return Dim.of(min(numbers)), Dim.of(max(numbers))


def _numbers(data: Value) -> Iterator[int | None]:
    if isinstance(data, tuple):
        for item in data:
            yield from _numbers(item)
    else:
        yield data.constant if isinstance(data, Dim) else None


def require_within(
    context: Context,
    operation: str,
    indices: TensorType,
    size: Dim,
    what: str,
    operands: str = "",
    *,
    from_the_end: bool = False,
) -> None:
    """Demand that the known indices are below `size` and not negative.

    Args:
        context: the path.
        operation: its name in the message.
        indices: the tensor of indices; where its extent is not known nothing is said.
        size: the number of rows that there are.
        what: what the rows are of, in the message: `a table of 3 rows`.
        operands: the operands in the message; by default the tensors of the call.
        from_the_end: whether negative indices count from the end.

    Raises:
        ShapeError: one of them is out of range for all sizes.
    """
    if indices.extent is None:
        return
    for index in indices.extent:
        is_too_large = context.facts.at_least(size, index + 1).status is Status.NEVER
        least = -size if from_the_end else ZERO
        if is_too_large or context.facts.at_least(index, least).status is Status.NEVER:
            raise ShapeError(operation, f"index {index} is out of range for {what}", operands, dims=(size, index))
