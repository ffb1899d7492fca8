"""Operations that repeat elements: expand, repeat, tile, repeat_interleave, one_hot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import DtypeError, ShapeError
from shaped.spec.axis_order import factors_of, remembered
from shaped.spec.broadcast import broadcast_shape
from shaped.spec.dims import ONE, Dim, product
from shaped.spec.dtype_demands import INT32_OR_INT64, ONLY_INT64, takes
from shaped.spec.dtypes import BOOL, COMPLEX, FLOATS, INT64
from shaped.spec.extent import require_within
from shaped.spec.merged_axes import repeated_axes
from shaped.spec.op import op
from shaped.spec.ops.arguments import ints, listed, shown, size, spread, tensors, unknown_sizes
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context

MINUS_ONE = Dim.of(-1)


@op("expand", "Tensor.expand", formula="y[i, j] = x[0, j] along axes of size 1")
def expand(context: Context, input: TensorType, *size: Value, implicit: Value = False) -> TensorType:
    return expanded(context, "expand", input, spread(size))


@op("expand_as", "Tensor.expand_as", formula="x expanded to the shape of other")
def expand_as(context: Context, input: TensorType, other: TensorType) -> TensorType:
    if other.shape.rank is None:
        return input.with_shape(other.shape)
    result = expanded(context, "expand_as", input, other.shape.dims)
    return result.with_shape(_with_sizes_of(result.shape, other.shape))


def _with_sizes_of(shape: Shape, other: Shape) -> Shape:
    """`shape` with the sizes of an equal shape for those that were not followed."""
    pairs = zip(shape.dims, other.dims, strict=True)
    return Shape(tuple(theirs if own.has_unknown else own for own, theirs in pairs))


@op("broadcast_to", "torch.broadcast_to", "Tensor.broadcast_to", formula="x expanded to a shape")
def broadcast_to(context: Context, input: TensorType, size: Value) -> TensorType:
    return expanded(context, "broadcast_to", input, listed(size))


def expanded(context: Context, operation: str, input: TensorType, sizes: Sequence[Value] | None) -> TensorType:
    """The tensor with axes of size 1 stretched and new axes in front; -1 keeps a size.

    Raises:
        ShapeError: an axis of another size than 1 would change, or there are fewer sizes than axes.
    """
    if sizes is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    wanted = [size(context, value) for value in sizes]
    operands = f"{input} to {Shape(tuple(wanted))}"
    if len(wanted) < input.shape.least_rank:
        raise ShapeError(operation, f"{len(wanted)} sizes for {input.shape.least_rank} axes", operands)
    result: list[Dim] = []
    for i in range(-len(wanted), 0):
        asked, own = wanted[i], input.shape.at(i)
        is_new = input.shape.rank is not None and -i > input.shape.rank
        if is_new and asked == MINUS_ONE:
            raise ShapeError(operation, "-1 is given for a new axis, which has no size to keep", operands)
        if asked.constant is not None and asked.constant < -1:
            raise ShapeError(operation, f"{asked} is no size", operands)
        result.append(_stretched(context, operation, operands, own, asked, i))
    return input.with_shape(Shape(tuple(result)))


def _stretched(context: Context, operation: str, operands: str, own: Dim | None, asked: Dim, axis: int) -> Dim:
    if own is None:
        return context.fresh() if asked == MINUS_ONE else asked
    if asked == MINUS_ONE:
        return own
    if own == ONE or (own.has_unknown and not asked.has_unknown):
        return asked
    if asked.has_unknown:
        # It may be -1 or the size itself; a size that was not followed may be 1, too.
        return context.fresh() if own.has_unknown and own != asked else own

    def fault() -> ShapeError:
        return ShapeError(operation, f"size {own} of axis {axis} cannot become {asked}", operands, dims=(own, asked))

    context.require_equal(own, asked, fault)
    return asked


@op("broadcast_tensors", "torch.broadcast_tensors", formula="every tensor expanded to the shape that all broadcast to")
def broadcast_tensors(context: Context, *tensors: Value) -> Value:
    parts = _tensors(context, tensors)
    if parts is None:
        return UNKNOWN
    shape = broadcast_shape(context, "broadcast_tensors", *parts)
    return tuple(part.with_shape(shape) for part in parts)


def _tensors(context: Context, values: tuple[Value, ...]) -> tuple[TensorType, ...] | None:
    if len(values) == 1 and isinstance(values[0], (tuple, Many)):
        return tensors(context, values[0])
    return None if values == (UNKNOWN,) else tensors(context, values)


@op("broadcast_shapes", "torch.broadcast_shapes", formula="the shape that shapes broadcast to")
def broadcast_shapes(context: Context, *shapes: Value) -> Value:
    parts: list[TensorType] = []
    for value in shapes:
        sizes = ints(value)
        if sizes is None:
            return UNKNOWN
        parts.append(TensorType(Shape(tuple(size(context, each) for each in sizes))))
    return broadcast_shape(context, "broadcast_shapes", *parts).dims


@op("repeat", "Tensor.repeat", formula="y[..., i, ...] = x[..., i % n, ...]")
def repeat(context: Context, input: TensorType, *repeats: Value) -> TensorType:
    return repeated(context, "repeat", input, spread(repeats))


def repeated(context: Context, operation: str, input: TensorType, repeats: Sequence[Value] | None) -> TensorType:
    """The tensor laid `repeats[i]` times along axis i, new axes in front.

    Raises:
        ShapeError: there are fewer repeats than axes, or a negative one.
    """
    if repeats is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    counts = [size(context, value) for value in repeats]
    if len(counts) < input.shape.least_rank:
        raise ShapeError(
            operation, f"{len(counts)} repeats for {input.shape.least_rank} axes", f"{input} by {Shape(tuple(counts))}"
        )
    for i, count in enumerate(reversed(counts)):
        own = input.shape.at(-1 - i)
        is_new = input.shape.rank is not None and i >= input.shape.rank
        may_be_empty = not is_new and (own is None or own.has_unknown or own.constant == 0)
        if count.constant is not None and count.constant < 0 and not may_be_empty:
            raise ShapeError(operation, f"cannot repeat {count} times", f"{input} by {Shape(tuple(counts))}")
    if input.shape.rank is None:
        sizes = [input.shape.at(i) for i in range(-len(counts), 0)]
        found = [context.fresh() if own is None else own * count for own, count in zip(sizes, counts, strict=True)]
        return input.with_shape(Shape(tuple(found)))
    padded = (ONE,) * (len(counts) - input.shape.rank) + input.shape.dims
    result = input.with_shape(Shape(tuple(own * count for own, count in zip(padded, counts, strict=True))))
    return remembered(result, repeated_axes(input, padded, counts))


@op("tile", "torch.tile", "Tensor.tile", formula="y[..., i, ...] = x[..., i % n, ...]")
def tile(context: Context, input: TensorType, *dims: Value) -> TensorType:
    repeats = spread(dims)
    if repeats is None:
        return input.with_shape(Shape.of(context.fresh_pack()))
    if input.shape.rank is None:
        # There may be more axes than repeats.
        if all(repeat == ONE for repeat in repeats) and len(repeats) <= input.shape.least_rank:
            return input
        return input.with_shape(Shape.of(context.fresh_pack()))
    missing = input.shape.rank - len(repeats)
    return repeated(context, "tile", input, (*(ONE for _ in range(missing)), *repeats))


@op(
    "repeat_interleave",
    "Tensor.repeat_interleave",
    formula="y[..., i, ...] = x[..., i//repeats, ...]",
    dtypes=takes(repeats=INT32_OR_INT64),
)
def repeat_interleave(
    context: Context, input: TensorType, repeats: Value, dim: Value = None, *, output_size: Value = None
) -> TensorType:
    return _interleaved(context, input, repeats, dim, output_size)


@op("torch.repeat_interleave", "torch.repeat_interleave", formula="y[..., i, ...] = x[..., i//repeats, ...]")
def repeat_interleave_function(
    context: Context, input: TensorType, repeats: Value = None, dim: Value = None, *, output_size: Value = None
) -> TensorType:
    if repeats is None:
        if input.shape.rank == 0 or input.shape.least_rank > 1:
            raise ShapeError("repeat_interleave", "repeats must be flat", str(input))
        total = output_size if isinstance(output_size, Dim) else context.fresh()
        return input.with_shape(Shape((total,)))
    return _interleaved(context, input, repeats, dim, output_size)


def _interleaved(context: Context, input: TensorType, repeats: Value, dim: Value, output_size: Value) -> TensorType:
    shape = input.shape
    if dim is None:
        shape = Shape((context.fresh() if shape.rank is None else product(shape.dims),))
        axis: int | None = 0
    else:
        axis = context.axis("repeat_interleave", input, dim)
    own = shape.at(axis) if axis is not None else None
    if axis is None or own is None:
        return input.with_shape(Shape.of(context.fresh_pack()) if shape.rank == 0 else unknown_sizes(context, shape))
    result = input.with_shape(shape.replace(axis, _interleaved_size(context, input, own, repeats, output_size)))
    if not isinstance(repeats, Dim) or ONE in (own, repeats) or input.shape.rank is None:
        return result
    if dim is None:  # of all axes as one
        factors = [factor for each in input.shape.dims for factor in factors_of(input, each) if factor != ONE]
        return remembered(result, ((*factors, repeats),))
    return remembered(result, (*input.merged, (*factors_of(input, own), repeats)))


def _interleaved_size(context: Context, input: TensorType, own: Dim, repeats: Value, output_size: Value) -> Dim:
    if isinstance(repeats, Dim):
        if repeats.constant is not None and repeats.constant < 0:
            raise ShapeError("repeat_interleave", f"cannot repeat {repeats} times", str(input))
        return own * repeats
    if isinstance(repeats, TensorType) and repeats.shape.rank is not None:
        if repeats.shape.rank > 1:
            raise ShapeError("repeat_interleave", "repeats must have at most 1 axis", shown(input, repeats))
        for count in repeats.shape.dims:
            if count != ONE:
                _require_a_count_each(context, input, repeats, count, own)
    return output_size if isinstance(output_size, Dim) else context.fresh()


def _require_a_count_each(context: Context, input: TensorType, repeats: TensorType, count: Dim, own: Dim) -> None:
    def fault() -> ShapeError:
        reason = f"{count} repeats for {own} elements"
        return ShapeError("repeat_interleave", reason, shown(input, repeats), dims=(count, own))

    context.require_equal(count, own, fault)


@op(
    "one_hot",
    "torch.nn.functional.one_hot",
    formula="y[..., k] = 1 where x[...] = k, else 0",
    dtypes=takes(tensor=ONLY_INT64),
)
def one_hot(context: Context, tensor: TensorType, num_classes: Value = MINUS_ONE) -> TensorType:
    if tensor.dtype.is_all(FLOATS | COMPLEX | BOOL):
        reason = f"class indices must be int64, not {tensor.dtype}"
        raise DtypeError("one_hot", reason, str(tensor), hint=".long()?")
    classes = size(context, num_classes)
    if classes == MINUS_ONE:
        # As many as the greatest index asks for.
        classes = context.fresh() if tensor.extent is None else tensor.extent[1] + 1
    elif isinstance(num_classes, Dim):
        require_within(context, "one_hot", tensor, classes, f"{classes} classes", str(tensor))
    return TensorType(tensor.shape + Shape((classes,)), INT64, tensor.device, tensor.joined)
