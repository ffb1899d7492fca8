"""Reductions: which axes a call names, and the shape that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, Dim
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import Many, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

LAST = Dim.of(-1)  # the usual default of `dim`


def reduced(
    context: Context,
    operation: str,
    tensor: TensorType,
    dim: Value,
    keepdim: Value = False,
    *,
    empty_is_all: bool = True,
) -> Shape:
    """The shape of a reduction of `tensor` over `dim`: None for all axes, an int, or a list of ints.

    Args:
        context: the path.
        operation: its name in the message.
        tensor: what is reduced.
        dim: the axes, as the call gives them.
        keepdim: whether they stay with size 1.
        empty_is_all: whether an empty list means all axes, as it does for most reductions.

    Raises:
        ShapeError: an axis is out of range, or named twice.

    >>> from shaped.spec.context import Context
    >>> b, d = Dim.name("b"), Dim.name("d")
    >>> print(reduced(Context(), "sum", TensorType.of(b, 3, d), Dim.of(1)))
    (b, d)
    """
    shape = tensor.shape
    if not isinstance(keepdim, bool):
        # Whether the axes stay is not known: the number of axes is not.
        return shape if dim == () and not empty_is_all else Shape.of(context.fresh_pack())
    if dim is None or (dim == () and empty_is_all):
        if not keepdim:
            return Shape(())
        return Shape.of(context.fresh_pack()) if shape.rank is None else Shape((ONE,) * shape.rank)
    dims = named_dims(dim)
    if dims is None:
        if keepdim and shape.rank is not None:
            return Shape(tuple(context.fresh() for _ in shape.dims))
        return Shape.of(context.fresh_pack())
    axes = [context.axis(operation, tensor, value) for value in dims]
    known = [axis for axis in axes if axis is not None]
    for axis in known:
        if known.count(axis) > 1:
            raise ShapeError(operation, f"dim {axis} is named twice", str(tensor))
    if len(known) < len(axes):
        if shape.rank is None:
            return Shape.of(context.fresh_pack())
        count = shape.rank if keepdim else max(shape.rank - len(axes), 0)
        return Shape(tuple(context.fresh() for _ in range(count)))
    return without_axes(context, shape, known, keep=keepdim)


def named_dims(dim: Value) -> tuple[Value, ...] | None:
    """The axes that an argument names, one or a list; None if their number is not known."""
    match dim:
        case bool():
            return None
        case Dim():
            return (dim,)
        case tuple():
            return dim
        case Many(element, length) if length.constant is not None:
            return (element,) * length.constant
        case _:
            return None


def without_axes(context: Context, shape: Shape, axes: list[int], *, keep: bool) -> Shape:
    """The shape without some axes, or with size 1 there if `keep`; axes as `Context.axis` gives them."""
    if shape.rank is not None:
        left = [ONE if i in axes else size for i, size in enumerate(shape.dims) if keep or i not in axes]
        return Shape(tuple(left))
    head, tail = shape.head, shape.tail
    # An axis that the pack hides may be one of the pack's, or of the head's last or the tail's first axes if the pack
    # has few; the axes beyond those are known to stay.
    head_end, tail_start, hidden = len(head), 0, False
    for axis in axes:
        if axis >= len(head):
            tail_start, hidden = max(tail_start, axis - len(head) + 1), True
        elif axis < -len(tail):
            head_end, hidden = min(head_end, len(head) + len(tail) + axis), True
    known_head = [(i, size) for i, size in enumerate(head[: max(head_end, 0)])]
    known_tail = [(i - len(tail), size) for i, size in enumerate(tail)][tail_start:]
    pack = context.fresh_pack() if hidden else shape.axes[len(head)]

    def kept(indexed: list[tuple[int, Dim]]) -> list[Axis]:
        return [ONE if i in axes else size for i, size in indexed if keep or i not in axes]

    return Shape((*kept(known_head), pack, *kept(known_tail)))


def reject_empty(context: Context, operation: str, tensor: TensorType, dim: Value = None) -> None:
    """Demand that the reduced axes are not of size 0, for a reduction without a value for no elements.

    Raises:
        ShapeError: one is of size 0 for all sizes.
    """
    shape = tensor.shape
    if dim is None:
        sizes = shape.head + shape.tail
    else:
        axes = [context.axis(operation, tensor, value) for value in named_dims(dim) or ()]
        sizes = tuple(size for size in (shape.at(axis) for axis in axes if axis is not None) if size is not None)
    if any(size == 0 for size in sizes):
        raise ShapeError(operation, "an axis of size 0 has no value", str(tensor))
