"""What kind of number a result holds, and operations on entries that keep whole numbers usable as indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.dtypes import BOOL, COMPLEX, FLOATS, INTEGERS
from shaped.spec.expr import Constant, Expr, Whole, real
from shaped.spec.tensor import Body, NotExpressible, Number, Tensor, TensorLike, pointwise, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

# From narrow to wide: the kind of a result is the widest of its operands'.
_KINDS = ("bool", "int", "float", "complex")


def promoted(*operands: TensorLike) -> str:
    """The kind of the result of arithmetic on these operands."""
    kinds: list[str] = [tensor(operand).kind for operand in operands]
    return max(kinds, key=_KINDS.index)


def requested(dtype: object, default: str) -> str:
    """The kind of numbers of a dtype that a caller asks for, `default` where there is none.

    >>> requested("torch.float64", "int"), requested(None, "int")
    ('float', 'int')
    """
    if dtype is None:
        return default
    name = str(dtype).removeprefix("torch.")
    for kind, names in zip(_KINDS, (BOOL, INTEGERS, FLOATS, COMPLEX)):
        if name in names:
            return kind
    raise NotExpressible(f"the dtype {dtype}")


def converted(input: Tensor, kind: str) -> Tensor:
    """The same numbers in a kind that holds them.

    Raises:
        NotExpressible: the kind is narrower.
    """
    if input.kind == kind:
        return input
    if _KINDS.index(kind) < _KINDS.index(input.kind):
        raise NotExpressible(f"{input.kind} numbers as {kind}")
    if kind == "complex":
        return pointwise(lambda parts: parts, input, complex_parts=True)
    return pointwise(lambda x: x, input, kind=kind)


def number(value: Number | Tensor) -> Expr:
    """A number that a caller gives as it is: a float as the decimal number that it prints as."""
    body = tensor(value).body
    if not isinstance(body, Expr) or tensor(value).rank:
        raise NotExpressible(f"{value} where a number is needed")
    return body


def dim_of(entry: Expr) -> Dim | None:
    """The index expression that an entry is, None if it is none."""
    if isinstance(entry, Whole):
        return entry.dim
    if isinstance(entry, Constant) and entry.value.denominator == 1:
        return Dim.of(entry.value.numerator)
    return None


def elementwise(
    entry: Callable[..., Body],
    *operands: TensorLike,
    kind: str | None = None,
    on_dims: Callable[..., Dim] | None = None,
    on_complex: Callable[..., Body] | None = None,
) -> Tensor:
    """The tensor whose entry is `entry` of the operands' entries, in the widest of their kinds or in `kind`.

    Args:
        entry: the result for real entries.
        operands: tensors and numbers; they broadcast.
        kind: the kind of the result where it is not the widest of the operands'.
        on_dims: the result for entries that are all index expressions, so that it is one as well.
        on_complex: the result for pairs of real and imaginary parts.

    Raises:
        ShapeError: the operands do not broadcast.
        NotExpressible: one is complex and `on_complex` is not given.
    """
    tensors = [tensor(operand) for operand in operands]
    if any(each.imaginary is not None for each in tensors):
        if on_complex is None:
            raise NotExpressible("this function of complex numbers")
        return pointwise(on_complex, *tensors, complex_parts=True)

    def of_wholes(*entries: Expr) -> Body:
        dims = [dim_of(each) for each in entries]
        known = [dim for dim in dims if dim is not None]
        return entry(*entries) if on_dims is None or len(known) < len(dims) else real(on_dims(*known))

    return pointwise(of_wholes, *tensors, kind=kind or promoted(*tensors))
