"""A tensor with a part of it replaced: `select_scatter`, `slice_scatter`, `diagonal_scatter`, `as_strided_scatter`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO
from shaped.spec.op import op
from shaped.spec.ops.diagonal import diagonal
from shaped.spec.ops.indexing import Slice, slice_length
from shaped.spec.ops.splitting import select

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value


def _require_part(context: Context, operation: str, input: TensorType, src: TensorType, part: TensorType) -> TensorType:
    """The input, of which `src` replaces a part of this shape."""

    def fault() -> ShapeError:
        return ShapeError(operation, f"the part that is replaced is {part}", f"{input}, src {src}")

    if part.shape.rank is not None and src.shape.rank is not None:
        if part.shape.rank != src.shape.rank:
            raise fault()
        for own, given in zip(part.shape.dims, src.shape.dims, strict=True):
            context.require_equal(own, given, fault)
    return input


@op("select_scatter", "torch.select_scatter", "Tensor.select_scatter", formula="x with x[..., index, ...] = src")
def select_scatter(context: Context, input: TensorType, src: TensorType, dim: Value, index: Value) -> TensorType:
    return _require_part(context, "select_scatter", input, src, select(context, input, dim, index))


@op("slice_scatter", "torch.slice_scatter", "Tensor.slice_scatter", formula="x with x[..., start:end:step, ...] = src")
def slice_scatter(
    context: Context,
    input: TensorType,
    src: TensorType,
    dim: Value = ZERO,
    start: Value = None,
    end: Value = None,
    step: Value = ONE,
) -> TensorType:
    axis = context.axis("slice_scatter", input, dim)
    if axis is None or axis < 0:
        return input
    own = input.shape.at(axis)
    if own is None:
        return input
    part = input.with_shape(input.shape.replace(axis, slice_length(context, own, Slice(start, end, step))))
    return _require_part(context, "slice_scatter", input, src, part)


@op("diagonal_scatter", "torch.diagonal_scatter", "Tensor.diagonal_scatter", formula="x with x[..., i, i+offset] = src")
def diagonal_scatter(
    context: Context, input: TensorType, src: TensorType, offset: Value = ZERO, dim1: Value = ZERO, dim2: Value = ONE
) -> TensorType:
    return _require_part(context, "diagonal_scatter", input, src, diagonal(context, input, offset, dim1, dim2))


@op(
    "as_strided_scatter",
    "torch.as_strided_scatter",
    "Tensor.as_strided_scatter",
    formula="x with storage[offset + i*s_0 + j*s_1] = src[i, j]",
)
def as_strided_scatter(
    context: Context, input: TensorType, src: TensorType, size: Value, stride: Value, storage_offset: Value = None
) -> TensorType:
    return input
