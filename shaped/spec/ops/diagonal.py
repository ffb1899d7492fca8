"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO, Dim, minimum
from shaped.spec.dtypes import INT64
from shaped.spec.op import op
from shaped.spec.ops.arguments import at_least_zero, integer
from shaped.spec.ops.movement import inserted
from shaped.spec.promotion import as_sum, requested
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context

LAST, SECOND_LAST = Dim.of(-1), Dim.of(-2)


@op("diagonal", "torch.diagonal", "Tensor.diagonal", formula="y[..., i] = x[..., i, i+offset]")
def diagonal(
    context: Context, input: TensorType, offset: Value = ZERO, dim1: Value = ZERO, dim2: Value = ONE
) -> TensorType:
    return _diagonal(context, "diagonal", input, offset, dim1, dim2)


@op("linalg.diagonal", "torch.linalg.diagonal", formula="y[..., i] = x[..., i, i+offset]")
def linalg_diagonal(
    context: Context, A: TensorType, *, offset: Value = ZERO, dim1: Value = SECOND_LAST, dim2: Value = LAST
) -> TensorType:
    return _diagonal(context, "linalg.diagonal", A, offset, dim1, dim2)


def _diagonal(
    context: Context, operation: str, input: TensorType, offset: Value, dim1: Value, dim2: Value
) -> TensorType:
    if input.shape.rank in (0, 1):
        raise ShapeError(operation, "expects at least 2 axes", str(input))
    first, second = context.axis(operation, input, dim1), context.axis(operation, input, dim2)
    if first is None or second is None or input.shape.rank is None:
        if input.shape.rank is None:
            return input.with_shape(Shape.of(context.fresh_pack()))
        return input.with_shape(Shape(tuple(context.fresh() for _ in range(input.shape.rank - 1))))
    if first == second:
        raise ShapeError(operation, f"the two dims are the same, {first}", str(input))
    dims = input.shape.dims
    kept = [dim for i, dim in enumerate(dims) if i not in (first, second)]
    length = _diagonal_length(context, dims[first], dims[second], offset)
    return input.with_shape(Shape((*kept, length)))


def _diagonal_length(context: Context, rows: Dim, columns: Dim, offset: Value) -> Dim:
    if not isinstance(offset, Dim):
        return context.fresh()
    if context.is_at_least(offset, 0):
        columns = columns - offset
    elif context.is_at_least(-offset, 0):
        rows = rows + offset
    else:
        return context.fresh()
    if context.is_equal(rows, columns) or context.is_at_least(columns, rows):
        return at_least_zero(context, rows)
    if context.is_at_least(rows, columns):
        return at_least_zero(context, columns)
    return at_least_zero(context, minimum(rows, columns))


@op("diag", "torch.diag", "Tensor.diag", formula="the diagonal of a matrix, or the matrix with a diagonal")
def diag(context: Context, input: TensorType, diagonal: Value = ZERO) -> TensorType:
    shape = input.shape
    if shape.rank == 0 or shape.least_rank > 2:
        raise ShapeError("diag", "expects a vector or a matrix", str(input))
    if shape.rank is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    if shape.rank == 1:
        side = _side(context, shape.dims[0], diagonal)
        return input.with_shape(Shape((side, side)))
    rows, columns = shape.dims
    return input.with_shape(Shape((_diagonal_length(context, rows, columns, diagonal),)))


def _side(context: Context, length: Dim, offset: Value) -> Dim:
    """The side of the square matrix that has a diagonal of this length."""
    if not isinstance(offset, Dim):
        return context.fresh()
    if context.is_at_least(offset, 0):
        return length + offset
    return length - offset if context.is_at_least(-offset, 0) else context.fresh()


@op("diagflat", "torch.diagflat", "Tensor.diagflat", formula="the matrix with the elements of x as its diagonal")
def diagflat(context: Context, input: TensorType, offset: Value = ZERO) -> TensorType:
    count = input.shape.numel
    side = _side(context, context.fresh() if count is None else count, offset)
    return input.with_shape(Shape((side, side)))


@op("diag_embed", "torch.diag_embed", "Tensor.diag_embed", formula="y[..., i, i+offset] = x[..., i]")
def diag_embed(
    context: Context, input: TensorType, offset: Value = ZERO, dim1: Value = SECOND_LAST, dim2: Value = LAST
) -> TensorType:
    shape = input.shape
    if shape.rank == 0:
        raise ShapeError("diag_embed", "expects at least 1 axis", str(input))
    first, second = (context.axis("diag_embed", input, dim, new=1) for dim in (dim1, dim2))
    last = shape.at(-1)
    if shape.rank is None:
        if last is None or (integer(dim1), integer(dim2)) not in ((-2, -1), (-1, -2)):
            return input.with_shape(Shape.of(context.fresh_pack()))
        side = _side(context, last, offset)
        return input.with_shape(shape.replace(-1, side, side))
    assert last is not None
    side = _side(context, last, offset)
    if first is None or second is None:
        return input.with_shape(Shape(tuple(context.fresh() for _ in range(shape.rank + 1))))
    if first == second:
        raise ShapeError("diag_embed", f"the two dims are the same, {first}", str(input))
    result = Shape(shape.dims[:-1])
    for axis in sorted((first, second)):
        result = inserted(context, result, axis, side)
    return input.with_shape(result)


def _triangle(input: TensorType, operation: str) -> TensorType:
    if input.shape.rank in (0, 1):
        raise ShapeError(operation, "expects at least 2 axes", str(input))
    return input


@op(
    "tril",
    "torch.tril",
    "Tensor.tril",
    formula="y[i, j] = x[i, j] if j <= i + diagonal else 0",
    in_place=("Tensor.tril_",),
)
def tril(context: Context, input: TensorType, diagonal: Value = ZERO) -> TensorType:
    return _triangle(input, "tril")


@op(
    "triu",
    "torch.triu",
    "Tensor.triu",
    formula="y[i, j] = x[i, j] if j >= i + diagonal else 0",
    in_place=("Tensor.triu_",),
)
def triu(context: Context, input: TensorType, diagonal: Value = ZERO) -> TensorType:
    return _triangle(input, "triu")


@op("tril_indices", "torch.tril_indices", "torch.triu_indices", formula="row and column of each element of a triangle")
def triangle_indices(
    context: Context,
    row: Value,
    col: Value,
    offset: Value = ZERO,
    *,
    dtype: Value = None,
    device: Value = None,
    layout: Value = None,
) -> TensorType:
    return TensorType(Shape.of(2, context.fresh()), requested(dtype, INT64))


@op("trace", "torch.trace", "Tensor.trace", formula="y = sum_i x[i, i]")
def trace(context: Context, input: TensorType) -> TensorType:
    if input.shape.rank not in (None, 2) or input.shape.least_rank > 2:
        raise ShapeError("trace", "expects a matrix", str(input))
    return TensorType(Shape(()), as_sum(input.dtype), input.device, input.joined)


@op(
    "fill_diagonal",
    "Tensor.fill_diagonal",
    formula="x[i, i] = fill_value",
    in_place=("Tensor.fill_diagonal_",),
)
def fill_diagonal(context: Context, input: TensorType, fill_value: Value, wrap: Value = False) -> TensorType:
    return _triangle(input, "fill_diagonal_")
