"""Pooling over one, two or three spatial axes: maxima, means, p-norms, fixed and adaptive windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.axis_layout import check_channels
from shaped.spec.dims import Dim, ceildiv, minimum
from shaped.spec.dtypes import INT64
from shaped.spec.op import op
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.losses import require_same_shape
from shaped.spec.ops.options import flag, is_less, option_size, option_sizes
from shaped.spec.ops.spatial import Spatial, split_spatial
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.context import Context


def _pooled_size(
    context: Context, size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim, ceil_mode: bool | None
) -> Dim:
    """floor((size + 2*padding - dilation*(kernel - 1) - 1) / stride) + 1.

    With `ceil_mode` it is rounded up, but a window starts inside the input or its left padding.
    """
    if ceil_mode is None:
        return context.fresh()
    numerator = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return numerator // stride + 1
    rounded_up, starts_inside = ceildiv(numerator, stride) + 1, ceildiv(size + padding, stride)
    # The numerators of both quotients: where their order is known, no `min` is needed.
    order = (numerator + stride - size - padding).constant
    if order is not None:
        return rounded_up if order <= 0 else starts_inside
    return minimum(rounded_up, starts_inside)


def pool(
    context: Context,
    operation: str,
    count: int,
    input: TensorType,
    kernel_size: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    ceil_mode: Value,
) -> TensorType:
    """(..., channels, *sizes) -> (..., channels, *sizes') for a window that moves over the sizes.

    Raises:
        ShapeError: too many or too few axes, a padding of more than half a window, or no window that fits.
    """
    kernel = option_sizes(context, kernel_size, count, operation, "kernel_size", low=1)
    same_stride = stride is None or listed(stride) == ()
    strides = kernel if same_stride else option_sizes(context, stride, count, operation, "stride", low=1)
    pads = option_sizes(context, padding, count, operation, "padding")
    dilations = option_sizes(context, dilation, count, operation, "dilation", low=1)
    for name, values in (("kernel_size", kernel), ("stride", strides), ("dilation", dilations)):
        for value in values:
            if is_less(context, value, 1):
                raise ShapeError(operation, f"{name} is {value}, a positive int expected", dims=(value,))
    for pad, extent in zip(pads, (d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)), strict=True):
        if is_less(context, pad, 0) or is_less(context, extent, 2 * pad):
            raise ShapeError(
                operation, f"padding is {pad}, from 0 to half of the window {extent} expected", dims=(pad,)
            )
    parts = split_spatial(context, operation, input, count)
    sizes = []
    for size, k, s, p, d in zip(parts.sizes, kernel, strides, pads, dilations, strict=True):
        pooled = _pooled_size(context, size, k, s, p, d, flag(ceil_mode))
        too_small = flag(ceil_mode) is False and is_less(context, size + 2 * p, d * (k - 1) + 1)
        # Means over volumes ask for inputs as large as the window without their padding.
        too_small = too_small or (operation in ("avg_pool3d", "lp_pool3d") and is_less(context, size, k))
        if too_small or is_less(context, pooled, 1):
            window = d * (k - 1) + 1
            raise ShapeError(
                operation,
                f"the window spans {window}, the padded input has {size + 2 * p}",
                f"{input} with window ({', '.join(map(str, kernel))}{',' if count == 1 else ''})",
                dims=(size, k),
            )
        sizes.append(pooled)
    check_channels(context, operation, input, count, signals=not operation.startswith("max"))
    return _pooled(context, input, parts, tuple(sizes))


def _pooled(context: Context, input: TensorType, parts: Spatial, sizes: tuple[Dim, ...]) -> TensorType:
    channels = context.fresh() if parts.channels is None else parts.channels
    return input.with_shape(parts.shape(channels, sizes))


def with_indices(context: Context, pooled: TensorType, return_indices: Value) -> Value:
    wanted = flag(return_indices)
    if wanted is None:
        return UNKNOWN
    return (pooled, pooled.with_dtype(INT64)) if wanted else pooled


def max_pool(
    context: Context,
    count: int,
    input: TensorType,
    kernel_size: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    ceil_mode: Value,
    return_indices: Value,
) -> Value:
    operation = f"max_pool{count}d"
    pooled = pool(context, operation, count, input, kernel_size, stride, padding, dilation, ceil_mode)
    return with_indices(context, pooled, return_indices)


@op("max_pool1d", "torch.nn.functional.max_pool1d", "torch.max_pool1d", formula="y[n,c,i] = max(k) x[n,c,i*s+k]")
def max_pool1d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """The maximum of each window along one axis."""
    return max_pool(context, 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op("max_pool2d", "torch.nn.functional.max_pool2d", "torch.max_pool2d", formula="as max_pool1d, over two axes")
def max_pool2d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """The maximum of each window along two axes."""
    return max_pool(context, 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op("max_pool3d", "torch.nn.functional.max_pool3d", "torch.max_pool3d", formula="as max_pool1d, over three axes")
def max_pool3d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    return_indices: Value = False,
) -> Value:
    """The maximum of each window along three axes."""
    return max_pool(context, 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@op("avg_pool1d", "torch.nn.functional.avg_pool1d", "torch.avg_pool1d", formula="y[n,c,i] = mean(k) x[n,c,i*s+k]")
def avg_pool1d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
) -> TensorType:
    """The mean of each window along one axis."""
    return pool(context, "avg_pool1d", 1, input, kernel_size, stride, padding, 1, ceil_mode)


@op("avg_pool2d", "torch.nn.functional.avg_pool2d", formula="as avg_pool1d, over two axes")
def avg_pool2d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
    divisor_override: Value = None,
) -> TensorType:
    """The mean of each window along two axes."""
    return pool(context, "avg_pool2d", 2, input, kernel_size, stride, padding, 1, ceil_mode)


@op("avg_pool3d", "torch.nn.functional.avg_pool3d", formula="as avg_pool1d, over three axes")
def avg_pool3d(
    context: Context,
    input: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    ceil_mode: Value = False,
    count_include_pad: Value = True,
    divisor_override: Value = None,
) -> TensorType:
    """The mean of each window along three axes."""
    return pool(context, "avg_pool3d", 3, input, kernel_size, stride, padding, 1, ceil_mode)


@op("lp_pool1d", "torch.nn.functional.lp_pool1d", formula="y[n,c,i] = sum(k) x[n,c,i*s+k]**p)**(1/p)")
def lp_pool1d(
    context: Context,
    input: TensorType,
    norm_type: Value,
    kernel_size: Value,
    stride: Value = None,
    ceil_mode: Value = False,
) -> TensorType:
    """The p-norm of each window along one axis."""
    return pool(context, "lp_pool1d", 1, input, kernel_size, stride, 0, 1, ceil_mode)


@op("lp_pool2d", "torch.nn.functional.lp_pool2d", formula="as lp_pool1d, over two axes")
def lp_pool2d(
    context: Context,
    input: TensorType,
    norm_type: Value,
    kernel_size: Value,
    stride: Value = None,
    ceil_mode: Value = False,
) -> TensorType:
    """The p-norm of each window along two axes."""
    return pool(context, "lp_pool2d", 2, input, kernel_size, stride, 0, 1, ceil_mode)


@op("lp_pool3d", "torch.nn.functional.lp_pool3d", formula="as lp_pool1d, over three axes")
def lp_pool3d(
    context: Context,
    input: TensorType,
    norm_type: Value,
    kernel_size: Value,
    stride: Value = None,
    ceil_mode: Value = False,
) -> TensorType:
    """The p-norm of each window along three axes."""
    return pool(context, "lp_pool3d", 3, input, kernel_size, stride, 0, 1, ceil_mode)


def adaptive_pool(context: Context, operation: str, count: int, input: TensorType, output_size: Value) -> TensorType:
    """(..., channels, *sizes) -> (..., channels, *output_size), where None keeps a size.

    Raises:
        ShapeError: too many or too few axes, or a negative size.
    """
    given = listed(output_size)
    wanted = (output_size,) * count if given is None else given * count if len(given) == 1 else given
    if len(wanted) != count:
        raise ShapeError(operation, f"output_size has {len(wanted)} values, {count} expected", str(input))
    numbers = [None if each is None else option_size(context, each) for each in wanted]
    for number in numbers:
        if number is not None and is_less(context, number, 0):
            raise ShapeError(operation, f"output_size is {number}", str(input), dims=(number,))
    if operation in _MEANS:
        means = _means_to_one(context, count, input, numbers, count + (given is not None))
        if means is not None:
            return input.with_shape(means)
    parts = split_spatial(context, operation, input, count)
    check_channels(context, operation, input, count)
    sizes = tuple(size if number is None else number for size, number in zip(parts.sizes, numbers, strict=True))
    return _pooled(context, input, parts, sizes)


def _means_to_one(
    context: Context, count: int, input: TensorType, numbers: list[Dim | None], least: int
) -> Shape | None:
    """To size 1 these are means over the last axes, of an input of any rank from `least`; None if it is not that."""
    shape = input.shape
    if shape.rank is not None and (shape.rank < least or count + 1 <= shape.rank <= count + 2):
        return None
    known = shape.dims if shape.rank is not None else shape.tail
    olds = (*(context.fresh() for _ in range(count - len(known))), *known[-count:])
    sizes = [old if number is None else number for old, number in zip(olds, numbers, strict=True)]
    if any(context.is_never_equal(size, 1) for size in sizes):
        return None
    leading = shape.axes[:-count] if len(known) >= count else (context.fresh_pack(),)
    return Shape((*leading, *sizes))


_MEANS = ("adaptive_avg_pool2d", "adaptive_avg_pool3d")


@op(
    "adaptive_avg_pool1d",
    "torch.nn.functional.adaptive_avg_pool1d",
    "torch.adaptive_avg_pool1d",
    formula="y[n,c,i] = mean(floor(i*t/u) <= j < ceil((i+1)*t/u)) x[n,c,j]",
)
def adaptive_avg_pool1d(context: Context, input: TensorType, output_size: Value) -> TensorType:
    """Means over as many windows as the output has places."""
    return adaptive_pool(context, "adaptive_avg_pool1d", 1, input, output_size)


@op("adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d", formula="as adaptive_avg_pool1d, over two axes")
def adaptive_avg_pool2d(context: Context, input: TensorType, output_size: Value) -> TensorType:
    """Means over as many windows as the output has places, along two axes."""
    return adaptive_pool(context, "adaptive_avg_pool2d", 2, input, output_size)


@op("adaptive_avg_pool3d", "torch.nn.functional.adaptive_avg_pool3d", formula="as adaptive_avg_pool1d, over three axes")
def adaptive_avg_pool3d(context: Context, input: TensorType, output_size: Value) -> TensorType:
    """Means over as many windows as the output has places, along three axes."""
    return adaptive_pool(context, "adaptive_avg_pool3d", 3, input, output_size)


@op("adaptive_max_pool1d", "torch.nn.functional.adaptive_max_pool1d", formula="as adaptive_avg_pool1d, of maxima")
def adaptive_max_pool1d(
    context: Context, input: TensorType, output_size: Value, return_indices: Value = False
) -> Value:
    """Maxima over as many windows as the output has places."""
    return with_indices(context, adaptive_pool(context, "adaptive_max_pool1d", 1, input, output_size), return_indices)


@op("adaptive_max_pool2d", "torch.nn.functional.adaptive_max_pool2d", formula="as adaptive_avg_pool2d, of maxima")
def adaptive_max_pool2d(
    context: Context, input: TensorType, output_size: Value, return_indices: Value = False
) -> Value:
    """Maxima over as many windows as the output has places, along two axes."""
    return with_indices(context, adaptive_pool(context, "adaptive_max_pool2d", 2, input, output_size), return_indices)


@op("adaptive_max_pool3d", "torch.nn.functional.adaptive_max_pool3d", formula="as adaptive_avg_pool3d, of maxima")
def adaptive_max_pool3d(
    context: Context, input: TensorType, output_size: Value, return_indices: Value = False
) -> Value:
    """Maxima over as many windows as the output has places, along three axes."""
    return with_indices(context, adaptive_pool(context, "adaptive_max_pool3d", 3, input, output_size), return_indices)


def unpool(
    context: Context,
    count: int,
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value,
    padding: Value,
    output_size: Value,
) -> TensorType:
    """The inverse of max pooling: size' = (size-1)*stride + kernel - 2*padding, or as `output_size` says."""
    operation = f"max_unpool{count}d"
    parts = split_spatial(context, operation, input, count)
    require_same_shape(context, operation, input, indices, f"input {input}, indices {indices}")
    kernel = option_sizes(context, kernel_size, count, operation, "kernel_size", low=1)
    strides = kernel if stride is None else option_sizes(context, stride, count, operation, "stride", low=1)
    pads = option_sizes(context, padding, count, operation, "padding")
    found = tuple((size - 1) * s + k - 2 * p for size, k, s, p in zip(parts.sizes, kernel, strides, pads, strict=True))
    if output_size is not None:
        given = listed(output_size)
        known = given is not None and len(given) >= count
        found = tuple(option_size(context, each) for each in given[-count:]) if given and known else ()
        found = found or tuple(context.fresh() for _ in range(count))
    return _pooled(context, input, parts, found)


@op("max_unpool1d", "torch.nn.functional.max_unpool1d", formula="max_pool1d's inverse, 0 where there was no maximum")
def max_unpool1d(
    context: Context,
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """Put maxima back where `max_pool1d` found them."""
    return unpool(context, 1, input, indices, kernel_size, stride, padding, output_size)


@op("max_unpool2d", "torch.nn.functional.max_unpool2d", formula="max_pool2d's inverse, 0 where there was no maximum")
def max_unpool2d(
    context: Context,
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """Put maxima back where `max_pool2d` found them."""
    return unpool(context, 2, input, indices, kernel_size, stride, padding, output_size)


@op("max_unpool3d", "torch.nn.functional.max_unpool3d", formula="max_pool3d's inverse, 0 where there was no maximum")
def max_unpool3d(
    context: Context,
    input: TensorType,
    indices: TensorType,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    output_size: Value = None,
) -> TensorType:
    """Put maxima back where `max_pool3d` found them."""
    return unpool(context, 3, input, indices, kernel_size, stride, padding, output_size)


def _declare_with_indices(name: str, rule: Callable[..., Value], given: tuple[str, ...]) -> None:
    """The variant of a pool that always gives indices, too."""

    @op(f"{name}_with_indices", f"torch.nn.functional.{name}_with_indices", formula=f"{name} and where it found them")
    def both(context: Context, input: TensorType, *args: Value, **kwargs: Value) -> Value:
        named = {**dict(zip(given, args, strict=False)), **kwargs, "return_indices": True}
        return rule(context, input, **named)


_WINDOW = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
_SIZES = ("output_size", "return_indices")
for _count, _fixed, _free in (
    (1, max_pool1d, adaptive_max_pool1d),
    (2, max_pool2d, adaptive_max_pool2d),
    (3, max_pool3d, adaptive_max_pool3d),
):
    _declare_with_indices(f"max_pool{_count}d", _fixed, _WINDOW)
    _declare_with_indices(f"adaptive_max_pool{_count}d", _free, _SIZES)
