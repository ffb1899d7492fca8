"""Convolutions and transposed convolutions over one, two or three spatial axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_layout import check_channels
from shaped.spec.dims import ZERO, Dim
from shaped.spec.dtype_demands import alike
from shaped.spec.op import op
from shaped.spec.ops.options import (
    common_dtype,
    is_less,
    option_size,
    option_sizes,
    optional_tensor,
    require_divides,
    require_equal,
)
from shaped.spec.ops.spatial import Spatial, channels_last_hint, split_spatial
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context

_OF_ONE_DTYPE = alike("input", "weight", "bias")


@dataclass(frozen=True)
class Window:
    """How a kernel moves over the spatial axes; `padding` is `same`, `valid`, sizes, or None if it was not followed."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: tuple[Dim, ...] | str | None
    dilation: tuple[Dim, ...]

    @staticmethod
    def read(
        context: Context, operation: str, kernel: tuple[Dim, ...], stride: Value, padding: Value, dilation: Value
    ) -> Window:
        """The window for the arguments of a convolution.

        Raises:
            ShapeError: a tuple has the wrong length, a stride is not positive, or `same` meets a stride.
        """
        count = len(kernel)
        strides = option_sizes(context, stride, count, operation, "stride", low=1)
        dilations = option_sizes(context, dilation, count, operation, "dilation", low=1)
        for name, values in (("stride", strides), ("dilation", dilations)):
            for value in values:
                if is_less(context, value, 1):
                    raise ShapeError(operation, f"{name} is {value}, a positive int expected", dims=(value,))
        pads: tuple[Dim, ...] | str | None
        if isinstance(padding, str):
            pads = padding
            if padding not in ("same", "valid"):
                raise ShapeError(operation, f"padding is {padding!r}, 'same' or 'valid' expected")
            if padding == "same" and any(context.is_never_equal(value, 1) for value in strides):
                raise ShapeError(operation, "padding 'same' needs stride 1", dims=strides)
        elif padding is UNKNOWN:
            pads = None  # perhaps 'same', so not even an unknown size to add
        else:
            pads = option_sizes(context, padding, count, operation, "padding")
            if any(is_less(context, value, 0) for value in pads):
                raise ShapeError(operation, "padding is negative", dims=pads)
        return Window(kernel, strides, pads, dilations)

    def output_sizes(
        self, context: Context, sizes: tuple[Dim, ...], fault: Callable[[str, tuple[Dim, ...]], Fault]
    ) -> tuple[Dim, ...]:
        """floor((size + 2*padding - dilation*(kernel - 1) - 1) / stride) + 1 for each axis.

        Raises:
            Fault: the kernel is larger than the padded input for all sizes.
        """
        if self.padding == "same":
            return sizes
        if self.padding is None:
            return tuple(context.fresh() for _ in sizes)
        pads = (ZERO,) * len(sizes) if isinstance(self.padding, str) else self.padding
        found = []
        for size, kernel, stride, pad, dilation in zip(
            sizes, self.kernel, self.stride, pads, self.dilation, strict=True
        ):
            padded, extent = size + 2 * pad, dilation * (kernel - 1) + 1
            if is_less(context, padded, extent):
                raise fault(f"the kernel spans {extent}, the padded input has {padded}", (size, kernel))
            found.append((padded - extent) // stride + 1)
        return tuple(found)


def convolve(
    context: Context,
    operation: str,
    input: TensorType,
    weight: TensorType,
    in_channels: Dim,
    out_channels: Dim,
    window: Window,
) -> TensorType:
    """The rule that functions and modules share: (..., in_channels, *sizes) -> (..., out_channels, *sizes').

    Raises:
        ShapeError: too many or too few axes, other channels, or a kernel larger than the input.
    """
    operands = f"{input} with weight {weight}"
    parts = split_spatial(context, operation, input, len(window.kernel), operands=operands)
    _require_channels(context, operation, input, parts, in_channels, operands)
    sizes = window.output_sizes(
        context, parts.sizes, lambda reason, dims: ShapeError(operation, reason, operands, dims=dims)
    )
    return input.with_shape(parts.shape(out_channels, sizes)).with_dtype(common_dtype(input, weight))


def _require_channels(
    context: Context, operation: str, input: TensorType, parts: Spatial, in_channels: Dim, operands: str
) -> None:
    found = parts.channels
    if found is None:
        return
    require_equal(
        context,
        (input,),
        found,
        in_channels,
        lambda: ShapeError(
            operation,
            f"{found} channels in, {in_channels} expected",
            operands,
            channels_last_hint(parts, in_channels, input.shape.rank),
            (found, in_channels),
        ),
    )
    check_channels(context, operation, input, len(parts.sizes), channels=in_channels)


def _weight_axes(
    context: Context, operation: str, input: TensorType, weight: TensorType, count: int
) -> tuple[Dim, ...]:
    """The axes of a convolution's weight, fresh where they were not followed."""
    shape = weight.shape
    if shape.least_rank > count + 2 or (shape.rank is not None and shape.rank != count + 2):
        reason = f"the weight has {shape.least_rank} axes, {count + 2} expected"
        raise ShapeError(operation, reason, f"{input} with weight {weight}")
    hidden = (context.fresh() for _ in range(count + 2 - shape.least_rank))
    return (*shape.head, *hidden, *shape.tail)


def check_groups(context: Context, operation: str, channels: Dim, groups: Dim, name: str) -> None:
    if is_less(context, groups, 1):
        raise ShapeError(operation, f"groups is {groups}, a positive int expected", dims=(groups,))
    require_divides(
        context,
        channels,
        groups,
        lambda: ShapeError(
            operation, f"{name} {channels} is not divisible by groups {groups}", dims=(channels, groups)
        ),
    )


def _check_bias(context: Context, operation: str, bias: Value, channels: Dim) -> None:
    tensor = optional_tensor(context, bias)
    if tensor is None:
        return
    if tensor.shape.rank is not None and tensor.shape.rank != 1:
        raise ShapeError(operation, f"bias {tensor} has {tensor.shape.rank} axes, 1 expected")
    length = tensor.shape.at(0)
    if length is not None and tensor.shape.rank is not None:
        context.require_equal(
            length,
            channels,
            lambda: ShapeError(operation, f"bias {tensor}, ({channels},) expected", dims=(length, channels)),
        )


def _convolution(
    context: Context,
    count: int,
    input: TensorType,
    weight: TensorType,
    bias: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    groups: Value,
) -> TensorType:
    operation = f"conv{count}d"
    out_channels, in_per_group, *kernel = _weight_axes(context, operation, input, weight, count)
    group_count = option_size(context, groups, low=1)
    check_groups(context, operation, out_channels, group_count, "out_channels")
    _check_bias(context, operation, bias, out_channels)
    window = Window.read(context, operation, tuple(kernel), stride, padding, dilation)
    return convolve(context, operation, input, weight, in_per_group * group_count, out_channels, window)


@op(
    "conv1d",
    "torch.nn.functional.conv1d",
    "torch.conv1d",
    formula="y[n,o,i] = b[o] + sum(c,k) w[o,c,k]*x[n,c,i*s+k]",
    dtypes=_OF_ONE_DTYPE,
)
def conv1d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """Slide a kernel along one axis."""
    return _convolution(context, 1, input, weight, bias, stride, padding, dilation, groups)


@op(
    "conv2d",
    "torch.nn.functional.conv2d",
    "torch.conv2d",
    formula="as conv1d, over two axes",
    dtypes=_OF_ONE_DTYPE,
)
def conv2d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """Slide a kernel along two axes."""
    return _convolution(context, 2, input, weight, bias, stride, padding, dilation, groups)


@op(
    "conv3d",
    "torch.nn.functional.conv3d",
    "torch.conv3d",
    formula="as conv1d, over three axes",
    dtypes=_OF_ONE_DTYPE,
)
def conv3d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """Slide a kernel along three axes."""
    return _convolution(context, 3, input, weight, bias, stride, padding, dilation, groups)


def convolve_transposed(
    context: Context,
    operation: str,
    input: TensorType,
    weight: TensorType,
    in_channels: Dim,
    out_channels: Dim,
    window: Window,
    output_padding: tuple[Dim, ...] | None,
    output_size: Value = None,
) -> TensorType:
    """The transposed convolution: size' = (size-1)*stride - 2*padding + dilation*(kernel-1) + output_padding + 1.

    With `output_padding` None, `output_size` gives the sizes instead.

    Raises:
        ShapeError: too many or too few axes, other channels, or nothing left of the output.
    """
    operands = f"{input} with weight {weight}"
    count = len(window.kernel)
    parts = split_spatial(context, operation, input, count, operands=operands)
    _require_channels(context, operation, input, parts, in_channels, operands)
    if not isinstance(window.padding, tuple):
        sizes = tuple(context.fresh() for _ in parts.sizes)
    else:
        extents = zip(parts.sizes, window.kernel, window.stride, window.padding, window.dilation, strict=True)
        least = tuple((h - 1) * s - 2 * p + d * (k - 1) + 1 for h, k, s, p, d in extents)
        if output_padding is not None:
            sizes = tuple(size + extra for size, extra in zip(least, output_padding, strict=True))
        else:
            sizes = _given_sizes(context, operation, operands, least, window.stride, output_size)
        for size in sizes:
            # Of no elements torch makes none.
            if is_less(context, size, 0 if input.shape.numel == ZERO else 1):
                raise ShapeError(operation, f"an output size is {size}", operands, dims=parts.sizes)
    return input.with_shape(parts.shape(out_channels, sizes)).with_dtype(common_dtype(input, weight))


def _given_sizes(
    context: Context, operation: str, operands: str, least: tuple[Dim, ...], stride: tuple[Dim, ...], given: Value
) -> tuple[Dim, ...]:
    """The sizes that `output_size` gives: from `least` to `least + stride - 1` each; leading axes are left out."""
    count = len(least)
    if not isinstance(given, tuple):
        return tuple(context.fresh() for _ in least)
    if len(given) > count and len(given) - count <= 2:
        given = given[-count:]
    sizes = option_sizes(context, given, count, operation, "output_size")
    for size, low, step in zip(sizes, least, stride, strict=True):
        if is_less(context, size, low) or is_less(context, low + step - 1, size):
            reason = f"output_size {size} is not between {low} and {low + step - 1}"
            raise ShapeError(operation, reason, operands, dims=(size,))
    return sizes


def _transposed(
    context: Context,
    count: int,
    input: TensorType,
    weight: TensorType,
    bias: Value,
    stride: Value,
    padding: Value,
    output_padding: Value,
    groups: Value,
    dilation: Value,
) -> TensorType:
    operation = f"conv_transpose{count}d"
    in_channels, out_per_group, *kernel = _weight_axes(context, operation, input, weight, count)
    group_count = option_size(context, groups, low=1)
    check_groups(context, operation, in_channels, group_count, "in_channels")
    out_channels = out_per_group * group_count
    _check_bias(context, operation, bias, out_channels)
    window = Window.read(context, operation, tuple(kernel), stride, padding, dilation)
    extra = option_sizes(context, output_padding, count, operation, "output_padding")
    check_output_padding(context, operation, window, extra)
    return convolve_transposed(context, operation, input, weight, in_channels, out_channels, window, extra)


def check_output_padding(context: Context, operation: str, window: Window, extra: tuple[Dim, ...]) -> None:
    for value, stride, dilation in zip(extra, window.stride, window.dilation, strict=True):
        if is_less(context, stride - 1, value) and is_less(context, dilation - 1, value):
            reason = f"output_padding {value} is not smaller than stride {stride} or dilation {dilation}"
            raise ShapeError(operation, reason, dims=(value,))
        if is_less(context, value, 0):
            raise ShapeError(operation, f"output_padding is {value}", dims=(value,))


@op(
    "conv_transpose1d",
    "torch.nn.functional.conv_transpose1d",
    "torch.conv_transpose1d",
    formula="conv1d's transpose",
    dtypes=_OF_ONE_DTYPE,
)
def conv_transpose1d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """The transpose of `conv1d`."""
    return _transposed(context, 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(
    "conv_transpose2d",
    "torch.nn.functional.conv_transpose2d",
    "torch.conv_transpose2d",
    formula="conv2d's transpose",
    dtypes=_OF_ONE_DTYPE,
)
def conv_transpose2d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """The transpose of `conv2d`."""
    return _transposed(context, 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@op(
    "conv_transpose3d",
    "torch.nn.functional.conv_transpose3d",
    "torch.conv_transpose3d",
    formula="conv3d's transpose",
    dtypes=_OF_ONE_DTYPE,
)
def conv_transpose3d(
    context: Context,
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """The transpose of `conv3d`."""
    return _transposed(context, 3, input, weight, bias, stride, padding, output_padding, groups, dilation)
