"""What a tensor remembers of the operation that made it, where its shape does not say enough.

The rules on broadcasts that run and are wrong (`silent_broadcast`) read it: whether an axis of size 1 was put there to
be stretched or was left by an operation, and whether a tensor without an axis once had it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from shaped.errors import Origin
from shaped.spec.atoms import Kind
from shaped.spec.dims import ONE, Dim
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Reduced:
    """A scalar: an operation over all elements of its operands.

    Args:
        operation: the reduction, or a loss that reduces.
        operands: the shapes of its tensors; the first is what was reduced.
        is_loss: whether it is a loss, or a reduction of the losses of elements.
        place: where the program made it; set by whoever reads the program.
    """

    operation: str
    operands: tuple[Shape, ...]
    is_loss: bool
    place: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Losses:
    """The losses of elements, as a loss gives them with `reduction="none"`."""

    place: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Row:
    """One row of a table, taken at an index that is a named size: `table[:, t]`.

    Args:
        table: the shape of the table.
        size: the index.
        sliced: what `table[:, :t]` would be.
        place: as of `Reduced`.
    """

    table: Shape
    size: Dim
    sliced: Shape
    place: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Counted:
    """The numbers of an axis, as `arange` gives them: what is compared with them is compared with each."""

    place: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Filled:
    """One number everywhere, as `ones` gives it: what is multiplied by it is repeated on purpose."""

    place: object = field(default=None, compare=False)


Made = Reduced | Losses | Row | Counted | Filled

# Operations that leave an axis of size 1 because they work so, not for the axis to be stretched. Of those that give
# values and indices with keepdim=True the values are often put beside what they were taken from, the indices are not.
_LEAVE_AN_AXIS: Final = frozenset(["gather", "take_along_dim", "topk", "multinomial", "argmax", "argmin"])
_INDICES_LEAVE_AN_AXIS: Final = frozenset(["max", "min", "median", "nanmedian", "mode", "kthvalue"])
_FILLED: Final = frozenset(["full", "full_like", "new_full", "new_ones", "ones", "ones_like"])
REDUCTIONS: Final = frozenset(["sum", "mean", "nansum", "nanmean"])
_LINEAR: Final = frozenset(
    [
        *("mul", "multiply", "div", "divide", "true_divide"),
        *("add", "sub", "subtract", "rsub", "neg", "negative", "positive"),
    ]
)
_LOSSES: Final = frozenset(["cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"])


def remembering(operation: str, tensors: Sequence[TensorType], result: Value) -> Value:
    """The result of an operation on some tensors, with what is to be remembered of it."""
    if operation in _LEAVE_AN_AXIS:
        return _with_left_axes(operation, result)
    if operation in _INDICES_LEAVE_AN_AXIS and isinstance(result, tuple) and result:
        return (*result[:-1], _with_left_axes(operation, result[-1]))
    if isinstance(result, TensorType):
        made = _made_by(operation, tensors, result)
        return result if made is None else replace(result, made=made)
    return result


def _made_by(operation: str, tensors: Sequence[TensorType], result: TensorType) -> Made | None:
    if operation == "arange":
        return Counted()
    if operation in _FILLED:
        return Filled()
    if operation == "to":
        return tensors[0].made if tensors else None
    if operation.endswith("_loss") or operation in _LOSSES:
        if result.shape.axes:
            return Losses()
        # The loss of one sample, logits (c,) and a class (), is of that sample.
        is_of_several = any(each.shape.axes for each in tensors[1:])
        return Reduced(operation, tuple(each.shape for each in tensors), is_loss=True) if is_of_several else None
    if operation in REDUCTIONS and not result.shape.axes and tensors and tensors[0].shape.axes:
        return Reduced(operation, (tensors[0].shape,), is_loss=isinstance(tensors[0].made, Losses))
    return None


def _with_left_axes(operation: str, result: Value) -> Value:
    if isinstance(result, tuple):
        return tuple(_with_left_axes(operation, part) for part in result)
    if not isinstance(result, TensorType) or ONE not in result.shape.axes:
        return result
    axes = [left_by(operation, axis) if isinstance(axis, Dim) else axis for axis in result.shape.axes]
    return replace(result, shape=Shape(tuple(axes)))


def left_by(operation: str, size: Dim) -> Dim:
    """The size; a 1 is said to be what an operation left or declared, not made to be stretched."""
    return size.at(Origin(f"from {operation}")) if size.origin is None and size == ONE else size


def is_left_over(size: Dim) -> bool:
    """Whether a size 1 was declared, or left by an operation. Others are new axes, made to be stretched.

    A size that was declared (by an annotation, as `out_features`) has an origin; `x[:, None]`, `keepdim=True` and a 1
    that is given to `view` have none.
    """
    return size.origin is not None and size == ONE


def left_over(shape: Shape) -> tuple[int, ...]:
    """The places of the axes that were left over, which equality of shapes does not look at."""
    return tuple(i for i, axis in enumerate(shape.axes) if isinstance(axis, Dim) and is_left_over(axis))


def either(shape: Shape, other: Shape) -> Shape:
    """A shape that comes from one of two equal shapes: an axis is left over if it is in both."""
    if left_over(shape) in ((), left_over(other)):
        return shape
    pairs = zip(shape.axes, other.axes, strict=True)
    return Shape(tuple(theirs if isinstance(own, Dim) and is_left_over(own) else own for own, theirs in pairs))


def carried(operation: str, operands: Sequence[TensorType]) -> Made | None:
    """What the result of an elementwise operation remembers of its operands, which are its tensors.

    A scalar stays what it is under numbers and other scalars; of a plain sum or mean only multiples are followed, since
    what else is made of it (the root of a mean) is a scale.
    """
    made = [each.made for each in operands if each.made is not None]
    if not made or (len(operands) > 1 and any(each.shape.axes for each in operands)):
        return None
    if len(made) == 1 and (operation in _LINEAR or not isinstance(made[0], Reduced) or made[0].is_loss):
        return made[0]
    return next((each for each in made if isinstance(each, Reduced) and each.is_loss), None)


def named(size: Dim) -> bool:
    """Whether a size is a name of an annotation: any size, or what a call or an object has under this name."""
    symbol = size.symbol
    if symbol is None or symbol.may_be_one:
        return False
    return symbol.kind is Kind.NAME or (symbol.kind is Kind.UNKNOWN and not symbol.is_fresh)
