"""Broadcasting: the shape of an elementwise operation, aligned from the last axis, over symbolic sizes."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import ONE, Dim
from shaped.spec.shape import Shape
from shaped.spec.silent_broadcast import report_unmeant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shaped.spec.context import Context
    from shaped.spec.values import TensorType


def broadcast(context: Context, operation: str, *tensors: TensorType, operands: str = "", symbol: str = ", ") -> Shape:
    """The shape that `tensors` broadcast to. A broadcast that runs, but is hardly meant, is reported.

    Sizes are aligned from the last axis; a size 1 and a missing axis stretch. A size that was not followed against a
    size is taken as that size, since it is either equal or 1.

    Args:
        context: the path.
        operation: its name in the message.
        tensors: the operands.
        operands: the operands as the message shows them; their shapes by default.
        symbol: what stands between the shapes in the message, without `operands`.

    Raises:
        ShapeError: two sizes differ, neither is 1.

    >>> from shaped.spec.context import Context
    >>> from shaped.spec.values import TensorType
    >>> b, d = Dim.name("b"), Dim.name("d")
    >>> print(broadcast(Context(), "add", TensorType.of(b, 1, d), TensorType.of(5, d)))
    (b, 5, d)
    """
    with uncertain_if_joined(context, *tensors):

        def shown() -> str:
            return operands or symbol.join(map(str, tensors))

        shape = _broadcast(context, operation, [tensor.shape for tensor in tensors], shown)
        report_unmeant(context, operation, tensors, shape, shown)
    return shape


def broadcast_shape(context: Context, operation: str, *tensors: TensorType, operands: str = "") -> Shape:
    """`broadcast` where the call says itself that it broadcasts, or the caller reports what is not meant."""
    with uncertain_if_joined(context, *tensors):
        return _broadcast(
            context, operation, [tensor.shape for tensor in tensors], lambda: operands or ", ".join(map(str, tensors))
        )


def _broadcast(context: Context, operation: str, shapes: Sequence[Shape], shown: Callable[[], str]) -> Shape:
    packed = [shape for shape in shapes if shape.pack is not None]
    if not packed:
        return Shape(_broadcast_dims(context, operation, [shape.dims for shape in shapes], shown))
    first = packed[0]
    aligned = all(shape.pack == first.pack and len(shape.tail) == len(first.tail) for shape in packed)
    if aligned and all(shape.rank is None or shape.rank <= len(first.tail) for shape in shapes):
        heads = [shape.head for shape in packed]
        tails = [shape.tail if shape.pack is not None else shape.dims for shape in shapes]
        head = _broadcast_dims(context, operation, heads, shown, last=None)
        return Shape((*head, first.axes[len(first.head)], *_broadcast_dims(context, operation, tails, shown)))
    # Where a pack hides an axis, its size there is not known.
    length = max(len(shape.tail) if shape.pack is not None else len(shape.dims) for shape in shapes)
    columns = [
        (*(context.fresh() for _ in range(length - len(shape.tail))), *shape.tail)
        if shape.pack is not None
        else shape.dims
        for shape in shapes
    ]
    return Shape((context.fresh_pack(), *_broadcast_dims(context, operation, columns, shown)))


def broadcast_sizes(
    context: Context, a: Dim, b: Dim, fault: Callable[[], Fault], among: Sequence[tuple[Dim, ...]] = ()
) -> Dim:
    """The size that two sizes of one axis broadcast to; `among` are the axes of the operands.

    Raises:
        Fault: `fault()`, when they differ and neither is 1.
    """
    if a == b or b == ONE:
        return a
    if a == ONE:
        return b
    if not a.has_unknown and not b.has_unknown:
        if a.constant is not None and b.constant is not None:
            raise fault()
        return context.require_equal(a, b, fault, among=among)
    if not a.has_unknown:
        a, b = b, a
    # a was not followed: it is 1 or equal to b, for all that is known.
    if context.is_never_equal(a, b) and context.is_never_equal(a, 1) and context.is_never_equal(b, 1):
        raise fault()
    if context.is_equal(a, b):
        return b
    return context.fresh() if b.has_unknown else b


@contextmanager
def uncertain_if_joined(context: Context, *tensors: TensorType) -> Iterator[None]:
    """Within it, what holds for only some named sizes is no error if a tensor's shape was joined from several paths."""
    before, repeats = context.certain, context.repeats
    if any(tensor.joined for tensor in tensors):
        context.certain = context.repeats = False
    try:
        yield
    finally:
        context.certain, context.repeats = before, repeats


def is_joined(*tensors: TensorType) -> bool:
    """Whether a result of these tensors counts as joined."""
    return any(tensor.joined for tensor in tensors)


def _broadcast_dims(
    context: Context, operation: str, rows: Sequence[tuple[Dim, ...]], shown: Callable[[], str], last: int | None = -1
) -> tuple[Dim, ...]:
    """The broadcast of rows of sizes aligned at their ends; `last` is the axis of the last column, None if unknown."""
    length = max(map(len, rows), default=0)
    result: list[Dim] = []
    for offset in range(1, length + 1):
        size = ONE
        for row in rows:
            if offset <= len(row):
                other = row[-offset]

                def fault(a: Dim = size, b: Dim = other, axis: int = -offset) -> Fault:
                    where = f" of axis {axis}" if last is not None else ""
                    return ShapeError(
                        operation, f"sizes {a} and {b}{where} differ", shown(), hint=new_axes_hint(rows), dims=(a, b)
                    )

                size = broadcast_sizes(context, size, other, fault, rows)
        result.append(_one(rows, offset, length) if size == ONE else size)
    return tuple(reversed(result))


def _one(rows: Sequence[tuple[Dim, ...]], offset: int, length: int) -> Dim:
    """The size 1 of an axis at which all operands have it: a new one if an operand of full rank made it anew.

    One number for each image, (b, 1, 1, 1), does not make the channel of masks (b, 1, h, w) anew.
    """
    whole = [row for row in rows if len(row) == length]
    varied = [row for row in whole if offset < 3 or any(size != ONE for size in row[-offset:])] or whole
    ones = [row[-offset] for row in varied]
    return next((one for one in ones if one.origin is None), ones[0])


def new_axes_hint(rows: Sequence[tuple[Dim, ...]]) -> str:
    """New axes that make the shorter of two operands fit: .unsqueeze(1), or an index for several.

    The last axes are tried first, since they are what most operands share.
    """
    if len(rows) != 2 or len(rows[0]) == len(rows[1]):
        return ""
    short, long = sorted(rows, key=len)
    for places in reversed(list(combinations(range(len(long)), len(short)))):
        if all(own in (ONE, long[place]) for own, place in zip(short, places, strict=True)):
            new = [axis for axis in range(len(long)) if axis not in places]
            if len(new) == 1:
                return f".unsqueeze({new[0]}) on {Shape(short)}?"
            index = ", ".join("None" if axis in new else ":" for axis in range(len(long)))
            return f"[{index}] on {Shape(short)}?"
    return ""
