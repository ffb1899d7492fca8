"""`torch.nn.functional.pad` in all modes, and the patches of `unfold` and `fold`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO, Dim, product
from shaped.spec.facts import Status
from shaped.spec.number_range import fits_input
from shaped.spec.op import op
from shaped.spec.ops.arguments import listed, quotient, size, unknown_sizes
from shaped.spec.shape import Shape
from shaped.spec.values import TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.context import Context


@op(
    "pad",
    "torch.nn.functional.pad",
    formula="y[i] = x[i-before] inside, value outside, pairs from the last axis on",
    dtypes=fits_input("value"),
)
def pad(context: Context, input: TensorType, pad: Value, mode: Value = "constant", value: Value = None) -> TensorType:
    return padded(context, "pad", input, listed(pad), mode)


def padded(
    context: Context, operation: str, input: TensorType, widths: Sequence[Value] | None, mode: Value
) -> TensorType:
    """The tensor with its last axes longer at both ends, shorter for negative widths.

    Raises:
        ShapeError: the widths are no pairs, too many, or do not fit the sizes or the mode.
    """
    if widths is None:
        return input.with_shape(unknown_sizes(context, input.shape))
    amounts = [width if isinstance(width, Dim) else context.fresh(low=None) for width in widths]
    operands = f"{input} by ({', '.join(map(str, amounts))})"
    count = len(amounts) // 2
    if len(amounts) % 2:
        raise ShapeError(operation, "the widths are no pairs", operands)
    if isinstance(mode, str) and mode != "constant":
        _check_mode(operation, operands, input, count, mode)
    if input.shape.rank is not None and count > input.shape.rank:
        raise ShapeError(operation, f"{count} pairs for {input.shape.rank} axes", operands)
    shape = input.shape
    if count > len(shape.axes if shape.rank is not None else shape.tail):
        return input.with_shape(Shape.of(context.fresh_pack()))
    for i in range(count):
        before, after, own = amounts[2 * i], amounts[2 * i + 1], shape.at(-1 - i)
        assert own is not None
        result = own + before + after
        # What is cut off must be there.
        cut = own + sum((width for width in (before, after) if (width.constant or 0) < 0), start=ZERO)
        if Status.NEVER in (context.facts.at_least(result, 0).status, context.facts.at_least(cut, 0).status):
            reason = f"axis {-1 - i} of size {own} would have size {result}"
            raise ShapeError(operation, reason, operands, dims=(own, before, after))
        if mode in ("reflect", "circular"):
            _check_width(context, operation, operands, own, (before, after), mode)
        shape = shape.replace(-1 - i, result)
    return input.with_shape(shape)


def _check_mode(operation: str, operands: str, input: TensorType, count: int, mode: str) -> None:
    """The modes that copy elements take 1 to 3 pairs, and a channel axis in front, with or without a batch axis."""
    if mode not in ("reflect", "replicate", "circular"):
        raise ShapeError(operation, f"there is no mode {mode!r}", operands)
    rank = input.shape.rank
    if rank is not None and (rank not in (count + 1, count + 2) or not 1 <= count <= 3):
        reason = f"mode {mode!r} pads 1 to 3 axes behind 1 or 2 others, not {count} of {rank}"
        raise ShapeError(operation, reason, operands)


def _check_width(context: Context, operation: str, operands: str, own: Dim, widths: Sequence[Dim], mode: Value) -> None:
    # Reflection does not repeat the border: it has one element less to give than the axis.
    most = own - 1 if mode == "reflect" else own
    for width in widths:
        if context.facts.at_least(most, width).status is Status.NEVER and context.is_at_least(width, 0):
            reason = f"mode {mode!r} cannot pad an axis of size {own} by {width}"
            raise ShapeError(operation, reason, operands, dims=(own, width))


def _pair(context: Context, value: Value) -> tuple[Dim, Dim]:
    parts = listed(value)
    if parts is None:
        one = size(context, value)
        return (one, one) if isinstance(value, Dim) else (one, context.fresh())
    if len(parts) == 1:
        return size(context, parts[0]), size(context, parts[0])
    return size(context, parts[0]), size(context, parts[1])


def _positions(
    context: Context,
    operation: str,
    input: TensorType,
    sizes: Sequence[Dim],
    window: tuple[Value, Value, Value, Value],
) -> Dim:
    """The number of places at which a window fits."""
    kernel, dilation, padding, stride = (_pair(context, value) for value in window)
    counts: list[Dim] = []
    for i, own in enumerate(sizes):
        span = own + padding[i] * 2 - dilation[i] * (kernel[i] - 1) - 1
        steps = stride[i]
        if steps.constant == 0:
            raise ShapeError(operation, "the stride is 0", str(input))
        count = span // steps + 1
        if count.constant is not None and count.constant < 1:
            raise ShapeError(operation, f"a window of {kernel[i]} does not fit a size of {own}", str(input))
        counts.append(count)
    return product(counts)


@op("functional.unfold", "torch.nn.functional.unfold", formula="y[n, c*k, l] = the l-th patch of x, as a column")
def unfold_patches(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    dilation: Value = ONE,
    padding: Value = ZERO,
    stride: Value = ONE,
) -> TensorType:
    rank = input.shape.rank
    if rank is None:
        return context.unknown_tensor(input.dtype)
    if rank not in (3, 4):
        raise ShapeError("unfold", "expects an image (c, h, w) or a batch of them", str(input))
    *batch, channels, height, width = input.shape.dims
    window = (kernel_size, dilation, padding, stride)
    places = _positions(context, "unfold", input, (height, width), window)
    return input.with_shape(Shape((*batch, channels * product(_pair(context, kernel_size)), places)))


@op(
    "functional.fold",
    "torch.nn.functional.fold",
    formula="y[n, c] = the sum of the patches x[n, c*k, l] at their places",
)
def fold_patches(
    context: Context,
    input: TensorType,
    output_size: Value,
    kernel_size: Value,
    dilation: Value = ONE,
    padding: Value = ZERO,
    stride: Value = ONE,
) -> TensorType:
    rank = input.shape.rank
    if rank is None:
        return context.unknown_tensor(input.dtype)
    if rank not in (2, 3):
        raise ShapeError("fold", "expects columns (c*k, l) or a batch of them", str(input))
    *batch, rows, columns = input.shape.dims
    height, width = _pair(context, output_size)
    places = _positions(context, "fold", input, (height, width), (kernel_size, dilation, padding, stride))
    kernel = product(_pair(context, kernel_size))

    def fault() -> ShapeError:
        reason = f"{columns} columns for {places} places of the window"
        return ShapeError("fold", reason, str(input), dims=(columns, places))

    context.require_equal(columns, places, fault)
    if rows.constant is not None and kernel.constant and rows.constant % kernel.constant:
        raise ShapeError("fold", f"{rows} rows are not divisible by a window of {kernel} elements", str(input))
    return input.with_shape(Shape((*batch, quotient(context, rows, kernel), height, width)))
