"""Products along chosen axes: tensordot, kron, cross products, and distances of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.broadcast import broadcast
from shaped.spec.dims import Dim
from shaped.spec.dtype_demands import alike
from shaped.spec.dtypes import ANY, FLOATS
from shaped.spec.op import op
from shaped.spec.ops.arguments import axes, integer, listed, shown
from shaped.spec.ops.contraction import product_shape, require_same_dtype
from shaped.spec.ops.movement import swapped
from shaped.spec.promotion import common_device, excluding, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context

ONE, TWO, LAST = Dim.of(1), Dim.of(2), Dim.of(-1)


@op("tensordot", "torch.tensordot", formula="y = the sum over pairs of axes of the product of a and b")
def tensordot(context: Context, a: TensorType, b: TensorType, dims: Value = TWO) -> TensorType:
    operands = shown(a, b)
    dtype = require_same_dtype("tensordot", a, b)
    pairs = _contracted_axes(context, a, b, dims)
    if pairs is None or a.shape.rank is None or b.shape.rank is None:
        return context.unknown_tensor(dtype)
    for i, j in zip(*pairs, strict=True):
        left, right = a.shape.dims[i], b.shape.dims[j]
        if left == ONE or right == ONE:
            continue

        def fault(left: Dim = left, right: Dim = right, i: int = i, j: int = j) -> ShapeError:
            reason = f"sizes {left} of axis {i} and {right} of axis {j} differ"
            return ShapeError("tensordot", reason, operands, dims=(left, right))

        context.require_equal(left, right, fault)
    kept_a = [dim for i, dim in enumerate(a.shape.dims) if i not in pairs[0]]
    kept_b = [dim for j, dim in enumerate(b.shape.dims) if j not in pairs[1]]
    return TensorType(Shape((*kept_a, *kept_b)), dtype, common_device((a, b)), a.joined or b.joined)


def _contracted_axes(
    context: Context, a: TensorType, b: TensorType, dims: Value
) -> tuple[Sequence[int], Sequence[int]] | None:
    count = integer(dims)
    if count is not None:
        if a.shape.rank is None or b.shape.rank is None:
            return None
        if count < 0 or count > min(a.shape.rank, b.shape.rank):
            raise ShapeError("tensordot", f"cannot sum over {count} axes", shown(a, b))
        return range(a.shape.rank - count, a.shape.rank), range(count)
    pair = listed(dims)
    if pair is None or len(pair) != 2:
        return None
    left, right = listed(pair[0]), listed(pair[1])
    if left is None or right is None:
        return None
    if len(left) != len(right):
        raise ShapeError("tensordot", f"{len(left)} axes against {len(right)}", shown(a, b))
    first, second = axes(context, "tensordot", a, left), axes(context, "tensordot", b, right)
    if first is None or second is None:
        return None
    if (first and a.shape.rank == 0) or (second and b.shape.rank == 0):
        raise ShapeError("tensordot", "a tensor without axes has none to sum over", shown(a, b))
    return first, second


@op("kron", "torch.kron", "Tensor.kron", formula="y[i*n+k] = a[i]*b[k], along every axis")
def kron(context: Context, input: TensorType, other: TensorType) -> TensorType:
    dtype, device = result_type(input, other), common_device((input, other))
    a, b = input.shape, other.shape
    if a.rank is None or b.rank is None:
        return context.unknown_tensor(dtype)
    rank = max(a.rank, b.rank)
    left, right = ((ONE,) * (rank - len(shape.dims)) + shape.dims for shape in (a, b))
    return TensorType(Shape(tuple(x * y for x, y in zip(left, right, strict=True))), dtype, device)


@op("cross", "torch.cross", "Tensor.cross", formula="y = a x b along an axis of size 3")
def cross(context: Context, input: TensorType, other: TensorType, dim: Value = None) -> TensorType:
    return _crossed(context, "cross", input, other, dim)


@op("linalg.cross", "torch.linalg.cross", formula="y = a x b along an axis of size 3")
def linalg_cross(context: Context, input: TensorType, other: TensorType, *, dim: Value = LAST) -> TensorType:
    return _crossed(context, "linalg.cross", input, other, dim)


def _crossed(context: Context, operation: str, input: TensorType, other: TensorType, dim: Value) -> TensorType:
    operands = shown(input, other)
    ranks = {shape.rank for shape in (input.shape, other.shape)} - {None}
    if len(ranks) > 1:
        raise ShapeError(operation, "the numbers of axes differ", operands)
    shape = broadcast(context, operation, input, other)
    if dim is None:
        # The first axis of size 3, if no axis before it may be one.
        for i, first in enumerate(input.shape.head):
            if first.constant is None:
                break
            if first == 3:
                dim = Dim.of(i)
                break
    if dim is not None:
        axis = context.axis(operation, input, dim)
        for operand in (input, other):
            size = operand.shape.at(axis) if axis is not None else None
            if size is not None:
                _require_three(context, operation, operands, size)
    elif input.shape.rank is not None and all(dim.constant not in (None, 3) for dim in input.shape.dims):
        raise ShapeError(operation, "the first operand has no axis of size 3", operands)
    return TensorType(shape, result_type(input, other), common_device((input, other)))


def _require_three(context: Context, operation: str, operands: str, size: Dim) -> None:
    def fault() -> ShapeError:
        return ShapeError(operation, f"the axis has size {size}, not 3", operands, dims=(size,))

    context.require_equal(size, 3, fault)


@op("cdist", "torch.cdist", formula="y[..., i, j] = |a[..., i, :] - b[..., j, :]|_p", dtypes=alike("x1", "x2"))
def cdist(
    context: Context, x1: TensorType, x2: TensorType, p: Value = 2.0, compute_mode: Value = UNKNOWN
) -> TensorType:
    operands = shown(x1, x2)
    for operand in (x1, x2):
        excluding("cdist", operand.dtype, ANY - FLOATS, "is no float dtype")
        if operand.shape.rank in (0, 1):
            raise ShapeError("cdist", "expects rows of vectors (2 axes or more)", operands)
    if x1.shape.at(-1) is not None and x2.shape.at(-1) is not None:
        transposed = swapped(context, "cdist", x2, Dim.of(-1), Dim.of(-2))
        if transposed.shape.least_rank >= 2 and x1.shape.least_rank >= 2:
            _require_lengths(context, operands, x1.shape.axes[-1], x2.shape.axes[-1])
            shape = product_shape(context, "cdist", x1.shape, transposed.shape, operands)
            return TensorType(shape, result_type(x1, x2), common_device((x1, x2)))
    return context.unknown_tensor(result_type(x1, x2))


def _require_lengths(context: Context, operands: str, a: object, b: object) -> None:
    if isinstance(a, Dim) and isinstance(b, Dim):

        def fault() -> ShapeError:
            return ShapeError("cdist", f"vectors of {a} and {b} elements", operands, dims=(a, b))

        context.require_equal(a, b, fault)
