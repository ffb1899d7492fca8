"""Reading the arguments of a call: ints, lists of ints, axes and tensors, some of which were not followed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import ONE, Dim, DimLike, Kind, maximum, product
from shaped.spec.shape import Axis, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shaped.spec.context import Context

MOST_COUNTED = 64  # a list of this many ints or tensors is still counted out


def integer(value: Value) -> int | None:
    """The int that `value` is for all sizes, None if it is another one or no int."""
    if isinstance(value, bool):
        return int(value)
    return value.constant if isinstance(value, Dim) else None


def size(context: Context, value: Value) -> Dim:
    """`value` as a size; a fresh one if it was not followed."""
    return value if isinstance(value, Dim) else context.fresh()


def listed(value: Value) -> tuple[Value, ...] | None:
    """The elements of a tuple or list, None if their number is not known."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, Many) and value.length.constant is not None and 0 <= value.length.constant <= MOST_COUNTED:
        return (value.element,) * value.length.constant
    return None


def spread(values: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """The ints of `f(2, 3)` and of `f((2, 3))`; None if their number is not known.

    >>> spread((Dim.of(2), Dim.of(3))) == spread(((Dim.of(2), Dim.of(3)),))
    True
    """
    if len(values) == 1 and not isinstance(values[0], Dim):
        return listed(values[0])
    return values


def ints(value: Value) -> tuple[Value, ...] | None:
    """The ints of an argument that is one int or a list of them, None if their number is not known."""
    return (value,) if isinstance(value, Dim) else listed(value)


def axes(context: Context, operation: str, tensor: TensorType, dims: Value) -> tuple[int, ...] | None:
    """The axes that an int or a list of ints names, counted from the front; None if they or the rank were not followed.

    Raises:
        ShapeError: one is out of range or named twice.
    """
    values = ints(dims)
    if values is None or tensor.shape.rank is None:
        return None
    found = [context.axis(operation, tensor, value) for value in values]
    known = [axis for axis in found if axis is not None]
    for axis in known:
        if known.count(axis) > 1:
            raise ShapeError(operation, f"dim {axis} is named twice", operands=str(tensor))
    return tuple(known) if len(known) == len(found) else None


def tensors(context: Context, value: Value) -> tuple[TensorType, ...] | None:
    """The tensors of a list, unknown ones as tensors of unknown axes; None if their number is not known."""
    values = listed(value)
    if values is None:
        return None
    found = [context.unknown_tensor() if item is UNKNOWN else item for item in values]
    kept = tuple(item for item in found if isinstance(item, TensorType))
    return kept if len(kept) == len(found) else None


def unknown_sizes(context: Context, shape: Shape) -> Shape:
    """A shape of the same rank, nothing else known."""
    if shape.rank is None:
        return Shape.of(context.fresh_pack())
    return Shape(tuple(context.fresh() for _ in shape.dims))


def ends(
    context: Context, shape: Shape, before: int, after: int
) -> tuple[tuple[Dim, ...], tuple[Axis, ...], tuple[Dim, ...]]:
    """The first `before` and the last `after` axes of a shape of at least so many, and those between.

    Axes that a pack hides are sizes that were not followed.
    """
    shape = context.with_ends(shape, before, after)
    if shape.rank is not None or (len(shape.head) >= before and len(shape.tail) >= after):
        tail = shape.tail if shape.rank is None else shape.dims
        stop = len(shape.axes) - after
        return shape.head[:before], shape.axes[before:stop], tail[len(tail) - after :]
    head = (*shape.head[:before], *(context.fresh() for _ in range(before - len(shape.head))))
    kept = shape.tail[max(len(shape.tail) - after, 0) :]
    return head, (context.fresh_pack(),), (*(context.fresh() for _ in range(after - len(kept))), *kept)


def with_rank(context: Context, input: TensorType, rank: int) -> TensorType:
    """The tensor as one of `rank` axes: what its pack hides are fresh sizes."""
    return input if input.shape.rank is not None else input.with_shape(context.ranked(input.shape, rank))


def at_least_zero(context: Context, length: Dim) -> Dim:
    """`length`, or 0 where it is negative."""
    return length if context.is_at_least(length, 0) else maximum(length, 0)


def quotient(context: Context, numerator: Dim, denominator: Dim) -> Dim:
    """numerator / denominator where the program means it to leave no rest, which is assumed unless it is evident."""
    if numerator == denominator:
        return ONE
    if denominator.constant == 0:
        return context.fresh()
    whole = numerator // denominator
    if whole * denominator != numerator:
        context.facts = context.facts.with_intended(numerator, denominator)
        whole = context.facts.normalize(whole)
    return whole


def leaves_rest(context: Context, numerator: Dim, denominator: Dim) -> bool:
    """Whether numerator / denominator leaves a rest: for all sizes, or for any batch that nobody would divide.

    3*b elements in rows of 2 are taken to need an even b; 400*b elements in rows of 120 for what it is, a mistake.
    """
    if denominator.constant == 0 or context.is_never_equal(numerator % denominator, 0):
        return True
    divisor = denominator.constant
    if divisor is None or len(numerator.terms) != 1 or not context.certain:
        return False
    ((_, coefficient),) = numerator.terms
    is_universal = all(symbol.kind is Kind.NAME for symbol in numerator.symbols())
    return is_universal and coefficient > 1 and bool(coefficient % divisor and divisor % coefficient)


def without_shared(left: Sequence[Dim], right: Sequence[Dim]) -> tuple[Dim, Dim]:
    """The products of two lists of sizes without the sizes that are in both.

    >>> b = Dim.name("b")
    >>> print(*without_shared((b, Dim.of(12)), (b, Dim.of(3), Dim.of(4))))
    12 12
    """
    rest, others = [], list(right)
    for dim in left:
        if dim in others and dim.constant != 0:
            others.remove(dim)
        else:
            rest.append(dim)
    if not rest and any(dim.has_unknown for dim in left):
        return product(left), product(right)  # (n, m) as (n, m, 3) is right for no elements, and meant for them only
    return product(rest), product(others)


def require_expands(context: Context, value: Shape, target: Shape, fault: Callable[[Dim, Dim], Fault]) -> None:
    """Demand that `value` broadcasts to `target` without changing it. `fault` gets the two sizes that differ."""
    for i in range(1, max(len(value.axes), len(target.axes)) + 1):
        own, wanted = value.at(-i), target.at(-i)
        if own is None or wanted is None:
            return
        if own != 1:
            context.require_equal(own, wanted, partial(fault, own, wanted))


def shown(*operands: Shape | TensorType | DimLike) -> str:
    """Operands as a message lists them: `(b, 3), (b, 4)`."""
    return ", ".join(map(str, operands))
