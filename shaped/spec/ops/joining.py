"""Operations that join tensors: along an axis, along a new axis, along all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.axis_order import remembered
from shaped.spec.bounds import is_positive
from shaped.spec.broadcast import new_axes_hint
from shaped.spec.dims import Dim, product
from shaped.spec.dtypes import ANY_DTYPE
from shaped.spec.merged_axes import joined_axis
from shaped.spec.op import op
from shaped.spec.ops.arguments import integer, shown, tensors, unknown_sizes
from shaped.spec.ops.contraction import require_same_dtype
from shaped.spec.ops.movement import inserted
from shaped.spec.ops.options import require_equal
from shaped.spec.promotion import common_device, result_type
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context

ZERO, TWO = Dim.of(0), Dim.of(2)


@op("cat", "torch.cat", "torch.concat", "torch.concatenate", formula="y[..., n_0+...+n_k+i, ...] = x_k[..., i, ...]")
def cat(context: Context, tensors: Value, dim: Value = ZERO) -> TensorType:
    return concatenated(context, "cat", tensors, dim)


def concatenated(context: Context, operation: str, parts: Value, dim: Value) -> TensorType:
    """Tensors joined along an axis; their other sizes agree.

    Raises:
        ShapeError: ranks or other sizes differ, or there are no tensors.
    """
    if isinstance(parts, Many) and isinstance(parts.element, TensorType) and tensors(context, parts) is None:
        return _repeated(context, operation, parts.element, parts.length, dim)
    joined = tensors(context, parts)
    if joined is None:
        return context.unknown_tensor()
    if not joined:
        raise ShapeError(operation, "expects at least one tensor")
    # A flat empty tensor is skipped by torch; so might be one whose only size was not followed.
    counted = [part for part in joined if part.shape != Shape.of(0)]
    if not counted:
        return _like(joined, Shape.of(0))
    result = _like(joined, _concatenated_shape(context, operation, counted, dim, shown(*joined)))
    axis = integer(dim)
    if axis is None or len(joined) < 2 or result.shape.rank is None:
        return result
    return remembered(result, joined_axis(joined, axis, Dim.of(len(joined))))


def _repeated(context: Context, operation: str, part: TensorType, count: Dim, dim: Value) -> TensorType:
    axis = context.axis(operation, part, dim)
    size = part.shape.at(axis) if axis is not None else None
    if axis is None or size is None:
        return part.with_shape(unknown_sizes(context, part.shape))
    # The element stands for all: sizes that were not followed may differ from one to the next.
    total = context.fresh() if size.has_unknown else size * count
    result = part.with_shape(part.shape.replace(axis, total))
    return remembered(result, () if size.has_unknown else joined_axis((part,), axis, count))


def _concatenated_shape(
    context: Context, operation: str, parts: Sequence[TensorType], dim: Value, operands: str
) -> Shape:
    ranked = [part for part in parts if part.shape.rank is not None]
    for part in ranked:
        if part.shape.rank != ranked[0].shape.rank and not _may_be_skipped(part) and not _may_be_skipped(ranked[0]):
            hint = new_axes_hint([each.shape.dims for each in ranked]) if len(parts) == len(ranked) else ""
            raise ShapeError(operation, f"{_axes(ranked[0])} against {_axes(part)}", operands, hint)
    if any(part.shape.rank == 0 for part in ranked):
        raise ShapeError(operation, "a tensor without axes cannot be joined", operands, hint="torch.stack?")
    whole = max(ranked, key=lambda part: part.shape.rank or 0, default=None)
    if whole is None:
        return _concatenated_near_pack(context, operation, parts, dim, operands)
    if all(map(_may_be_skipped, ranked)):
        if len(ranked) < len(parts):
            return Shape.of(context.fresh_pack())
        return Shape((sum((part.shape.dims[0] for part in ranked), start=ZERO),))
    axis = context.axis(operation, whole, dim)
    rank = whole.shape.rank
    assert rank is not None
    if axis is None:
        return unknown_sizes(context, whole.shape)
    if any(part.shape.rank != rank and part.shape.rank is not None for part in parts):
        return whole.shape.replace(axis, context.fresh())
    result: list[Dim] = []
    for i in range(rank):
        sizes = [_size_at(part.shape, i, rank) for part in parts]
        if i == axis:
            result.append(sum((context.fresh() if size is None else size for size in sizes), start=ZERO))
        else:
            result.append(_common_size(context, parts, operation, sizes, i, operands))
    return Shape(tuple(result))


def _may_be_skipped(part: TensorType) -> bool:
    """Whether it may be the flat empty tensor that torch skips."""
    if part.shape.rank != 1:
        return False
    (size,) = part.shape.dims
    return size.constant == 0 or (size.has_unknown and not is_positive(size))


def _axes(part: TensorType) -> str:
    return "1 axis" if part.shape.rank == 1 else f"{part.shape.rank} axes"


def _common_size(
    context: Context,
    parts: Sequence[TensorType],
    operation: str,
    sizes: Sequence[Dim | None],
    axis: int,
    operands: str,
) -> Dim:
    common: Dim | None = None
    for size in sizes:
        if size is None:
            continue
        if common is None:
            common = size
            continue
        a, b = common, size

        def fault(a: Dim = a, b: Dim = b) -> ShapeError:
            return ShapeError(operation, f"sizes {a} and {b} of axis {axis} differ", operands, dims=(a, b))

        common = require_equal(context, tuple(parts), a, b, fault)
    return context.fresh() if common is None else common


def _concatenated_near_pack(
    context: Context, operation: str, parts: Sequence[TensorType], dim: Value, operands: str
) -> Shape:
    """The shape where no rank is known: the axes on the side of the pack that `dim` counts from, if all have them."""
    first, index = parts[0].shape, integer(dim)
    layouts = {(part.shape.pack, len(part.shape.head), len(part.shape.tail)) for part in parts}
    if index is None or len(layouts) > 1:
        return Shape.of(context.fresh_pack())
    place = first.position(index)
    if place is None:
        return Shape.of(context.fresh_pack())
    result = list(first.axes)
    for i, axis in enumerate(first.axes):
        if isinstance(axis, Dim):
            column = [part.shape.axes[i] for part in parts]
            sizes = [size for size in column if isinstance(size, Dim)]
            at = i if i < len(first.head) else i - len(first.axes)
            result[i] = (
                sum(sizes, start=Dim.of(0))
                if i == place
                else _common_size(context, parts, operation, sizes, at, operands)
            )
    return Shape(tuple(result))


def _like(parts: Sequence[TensorType], shape: Shape) -> TensorType:
    return TensorType(shape, result_type(*parts), common_device(parts), any(part.joined for part in parts))


@op("stack", "torch.stack", formula="y[..., k, ...] = x_k[..., ...]")
def stack(context: Context, tensors: Value, dim: Value = ZERO) -> TensorType:
    return stacked(context, "stack", tensors, dim)


def stacked(context: Context, operation: str, parts: Value, dim: Value) -> TensorType:
    """Tensors of one shape joined along a new axis.

    Raises:
        ShapeError: their shapes differ, or there are no tensors.
    """
    joined = tensors(context, parts)
    count = Dim.of(len(joined)) if joined is not None else context.fresh()
    if joined is None and isinstance(parts, Many) and isinstance(parts.element, TensorType):
        joined, count = (parts.element,), parts.length
    if joined is None:
        return context.unknown_tensor()
    if not joined:
        raise ShapeError(operation, "expects at least one tensor")
    shape = _one_shape(context, operation, joined)
    result = _like(joined, shape)
    axis = context.axis(operation, result, dim, new=1)
    if axis is not None:
        return result.with_shape(inserted(context, shape, axis, count))
    if shape.rank is None:
        return result.with_shape(Shape.of(context.fresh_pack()))
    return result.with_shape(Shape(tuple(context.fresh() for _ in range(shape.rank + 1))))


def _one_shape(context: Context, operation: str, parts: Sequence[TensorType]) -> Shape:
    """The shape that all tensors have."""
    operands = shown(*parts)
    ranked = [part.shape for part in parts if part.shape.rank is not None]
    if not ranked:
        first = parts[0].shape
        return first if all(part.shape == first for part in parts) else Shape.of(context.fresh_pack())
    rank = ranked[0].rank
    assert rank is not None
    for part in parts:
        if part.shape.rank not in (None, rank) or part.shape.least_rank > rank:
            other = f"{part.shape.least_rank} {'axis' if part.shape.least_rank == 1 else 'axes'}"
            raise ShapeError(operation, f"{rank} {'axis' if rank == 1 else 'axes'} against {other}", operands)
    columns = [[_size_at(part.shape, i, rank) for part in parts] for i in range(rank)]
    return Shape(
        tuple(_common_size(context, parts, operation, column, i, operands) for i, column in enumerate(columns))
    )


def _size_at(shape: Shape, axis: int, rank: int) -> Dim | None:
    """The size of an axis of a shape known to have `rank` axes, None where its pack hides it."""
    return shape.at(axis if axis < len(shape.head) else axis - rank)


def _each(context: Context, parts: Value, count: int) -> Value:
    """The list with every tensor brought to at least `count` axes."""
    found = tensors(context, parts)
    if found is not None:
        return tuple(at_least_axes(context, part, count) for part in found)
    if isinstance(parts, Many) and isinstance(parts.element, TensorType):
        return Many(at_least_axes(context, parts.element, count), parts.length)
    return UNKNOWN


def at_least_axes(context: Context, input: TensorType, count: int) -> TensorType:
    """The tensor with `count` axes or more: (n,) becomes (1, n), and (1, n, 1) for three axes."""
    shape = input.shape
    if shape.rank is None:
        return input if shape.least_rank >= count else input.with_shape(Shape.of(context.fresh_pack()))
    if shape.rank >= count:
        return input
    dims: tuple[Dim, ...] = shape.dims
    one = Dim.of(1)
    if not dims:
        dims = (one,)
    if count >= 2 and len(dims) == 1:
        dims = (one, *dims)
    if count == 3 and len(dims) == 2:
        dims = (*dims, one)
    return input.with_shape(Shape(dims))


def _at_least(context: Context, operands: tuple[Value, ...], count: int) -> Value:
    if len(operands) == 1 and isinstance(operands[0], TensorType):
        return at_least_axes(context, operands[0], count)
    listed = operands[0] if len(operands) == 1 else operands
    if not isinstance(listed, (tuple, Many)):
        return UNKNOWN
    return _each(context, listed, count)


@op("atleast_1d", "torch.atleast_1d", formula="x with at least 1 axis")
def atleast_1d(context: Context, *tensors: Value) -> Value:
    return _at_least(context, tensors, 1)


@op("atleast_2d", "torch.atleast_2d", formula="x with at least 2 axes")
def atleast_2d(context: Context, *tensors: Value) -> Value:
    return _at_least(context, tensors, 2)


@op("atleast_3d", "torch.atleast_3d", formula="x with at least 3 axes")
def atleast_3d(context: Context, *tensors: Value) -> Value:
    return _at_least(context, tensors, 3)


@op("hstack", "torch.hstack", formula="tensors joined along axis 1, flat ones along axis 0")
def hstack(context: Context, tensors: Value) -> TensorType:
    parts = _each(context, tensors, 1)
    first = parts[0] if isinstance(parts, tuple) and parts else parts.element if isinstance(parts, Many) else UNKNOWN
    if not isinstance(first, TensorType) or (first.shape.rank is None and first.shape.least_rank < 2):
        return context.unknown_tensor()
    return concatenated(context, "hstack", parts, Dim.of(0 if first.shape.rank == 1 else 1))


@op("vstack", "torch.vstack", "torch.row_stack", formula="tensors of at least 2 axes joined along axis 0")
def vstack(context: Context, tensors: Value) -> TensorType:
    return concatenated(context, "vstack", _each(context, tensors, 2), ZERO)


@op("dstack", "torch.dstack", formula="tensors of at least 3 axes joined along axis 2")
def dstack(context: Context, tensors: Value) -> TensorType:
    return concatenated(context, "dstack", _each(context, tensors, 3), Dim.of(2))


@op("column_stack", "torch.column_stack", formula="tensors as columns joined along axis 1")
def column_stack(context: Context, tensors: Value) -> TensorType:
    return hstack(context, _columns(context, tensors))


def _columns(context: Context, parts: Value) -> Value:
    found = tensors(context, parts)
    if found is None:
        return UNKNOWN
    return tuple(_column(context, part) for part in found)


def _column(context: Context, part: TensorType) -> TensorType:
    if part.shape.rank is None:
        return context.unknown_tensor(part.dtype) if part.shape.least_rank < 2 else part
    if part.shape.rank > 1:
        return part
    return part.with_shape(Shape((product(part.shape.dims), Dim.of(1))))


@op("block_diag", "torch.block_diag", formula="the matrices along the diagonal, zeros elsewhere")
def block_diag(context: Context, *tensors: Value) -> TensorType:
    blocks: list[TensorType] = []
    for value in tensors:
        block = context.unknown_tensor() if value is UNKNOWN else value
        if not isinstance(block, TensorType):
            return context.unknown_tensor()
        if block.shape.least_rank > 2:
            raise ShapeError("block_diag", "expects tensors of at most 2 axes", shown(*_only_tensors(tensors)))
        blocks.append(block)
    if not blocks:
        return TensorType(Shape.of(1, 0), ANY_DTYPE)
    squared = [at_least_axes(context, block, 2) for block in blocks]
    if any(block.shape.rank is None for block in blocks):
        return _like(squared, Shape.of(context.fresh(), context.fresh()))
    rows, columns = (sum(sizes, start=ZERO) for sizes in zip(*(block.shape.dims for block in squared), strict=True))
    return _like(squared, Shape((rows, columns)))


def _only_tensors(values: Sequence[Value]) -> list[TensorType]:
    return [value for value in values if isinstance(value, TensorType)]


@op("meshgrid", "torch.meshgrid", formula="y_k[i_0, ..., i_n] = x_k[i_k]")
def meshgrid(context: Context, *tensors: Value, indexing: Value = None) -> Value:
    parts = _mesh_tensors(context, tensors)
    if parts is None:
        return UNKNOWN
    sizes: list[Dim] = []
    for part in parts:
        if part.shape.least_rank > 1:
            raise ShapeError("meshgrid", f"expects flat tensors, one is {part}", shown(*parts))
        sizes.append(product(part.shape.dims) if part.shape.rank is not None else context.fresh())
    if not sizes:
        raise ShapeError("meshgrid", "expects at least one tensor")
    require_same_dtype("meshgrid", *parts)
    shape = Shape(tuple(sizes))
    if len(sizes) >= 2 and indexing != "ij" and indexing is not None:
        swapped = Shape((sizes[1], sizes[0], *sizes[2:]))
        shape = swapped if indexing == "xy" else shape if swapped == shape else unknown_sizes(context, shape)
    return tuple(part.with_shape(shape) for part in parts)


def _mesh_tensors(context: Context, values: tuple[Value, ...]) -> tuple[TensorType, ...] | None:
    if len(values) == 1 and isinstance(values[0], (tuple, Many)):
        return tensors(context, values[0])
    return tensors(context, values) if len(values) > 1 or isinstance(values[0], TensorType) else None


@op("cartesian_prod", "torch.cartesian_prod", formula="every choice of one element of each tensor, as rows")
def cartesian_prod(context: Context, *tensors: Value) -> TensorType:
    parts = [value for value in tensors if isinstance(value, TensorType) and value.shape.rank is not None]
    for part in parts:
        if part.shape.rank != 1:
            raise ShapeError("cartesian_prod", f"expects flat tensors, one is {part}", shown(*parts))
    if not parts or len(parts) != len(tensors):
        return context.unknown_tensor()
    if len(parts) == 1:
        return parts[0]
    return _like(parts, Shape((product([part.shape.dims[0] for part in parts]), Dim.of(len(parts)))))


@op("combinations", "torch.combinations", formula="every choice of r elements, as rows")
def combinations(context: Context, input: TensorType, r: Value = TWO, with_replacement: Value = False) -> TensorType:
    if input.shape.least_rank > 1 or input.shape.rank == 0:
        raise ShapeError("combinations", "expects a flat tensor", str(input))
    count = integer(r)
    if count == 0 or (count is not None and count < 0):
        return context.unknown_tensor(input.dtype)
    columns = context.fresh() if not isinstance(r, Dim) else r
    if input.shape.rank is None or count is None or not isinstance(with_replacement, bool):
        return input.with_shape(Shape((context.fresh(), columns)))
    size = input.shape.dims[0]
    # n over r is the product of n-i over i+1; each partial product is divisible.
    rows, divisor = Dim.of(1), 1
    for i in range(count):
        rows, divisor = rows * (size + i if with_replacement else size - i), divisor * (i + 1)
    return input.with_shape(Shape((rows // divisor, columns)))
