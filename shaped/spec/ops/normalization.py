"""Normalisation over a batch, the trailing axes, groups of channels or one sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import Dim, product
from shaped.spec.dtype_demands import FLOATING, alike_but_half, takes
from shaped.spec.dtypes import DType
from shaped.spec.op import op
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.linear import last_axis_hint
from shaped.spec.ops.options import (
    flag,
    is_less,
    option_size,
    optional_tensor,
    require_divides,
    require_equal,
)
from shaped.spec.promotion import as_float
from shaped.spec.shape import Shape
from shaped.spec.wrong_axis import check_trailing

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value

_LIKE_STATISTICS = takes(input=FLOATING) + alike_but_half("input", "running_mean", "running_var", "weight", "bias")
_LIKE_WEIGHT = takes(input=FLOATING) + alike_but_half("input", "weight", "bias")


def normalize_channels(
    context: Context, operation: str, input: TensorType, features: Dim | None, axis: int = 1
) -> TensorType:
    """The input, whose axis `axis` has to have `features` channels if they are given.

    Raises:
        ShapeError: it has others.
    """
    found = input.shape.at(axis)
    if features is None or found is None:
        return input
    size = require_equal(
        context,
        (input,),
        found,
        features,
        lambda: ShapeError(
            operation,
            f"axis {axis} is {found}, {features} expected",
            f"{input} with {features} features",
            _moved_axis_hint(input.shape, axis, features),
            (found, features),
        ),
    )
    return input if size == found else input.with_shape(input.shape.replace(axis, size))


def _moved_axis_hint(shape: Shape, axis: int, features: Dim) -> str:
    """The transposition that brings the features to `axis`, where exactly one later axis has that size."""
    if shape.rank is None or features.has_unknown:
        return ""
    fitting = [i for i, dim in enumerate(shape.dims) if i > axis and dim == features]
    if len(fitting) != 1:
        return ""
    (other,) = fitting
    if other == axis + 1:
        return f".transpose({axis}, {other})?"
    order = [*range(axis), other, *(i for i in range(axis, shape.rank) if i != other)]
    return f".permute({', '.join(map(str, order))})?"


def check_rank(operation: str, input: TensorType, least: int, most: int | None = None) -> None:
    rank, least_rank = input.shape.rank, input.shape.least_rank
    if (rank is not None and rank < least) or (most is not None and least_rank > most):
        expected = f"at least {least}" if most is None else str(least) if least == most else f"{least} or {most}"
        found = f"{'' if rank is not None else 'at least '}{least_rank} {'axis' if least_rank == 1 else 'axes'}"
        raise ShapeError(operation, f"{found}, {expected} expected", str(input))


def _check_per_channel(
    context: Context, operation: str, input: TensorType, *named: tuple[str, Value], vectors: bool = False
) -> None:
    """Each tensor, where there is one, has a value for each channel (axis 1), in one axis for `vectors`."""
    channels = input.shape.at(1)
    for name, value in named:
        tensor = optional_tensor(context, value)
        if tensor is None or tensor.shape.numel is None:
            continue
        operands = f"{input}, {name} {tensor}"
        if vectors and tensor.shape.rank != 1:
            raise ShapeError(operation, f"{name} has {tensor.shape.rank} axes, 1 expected", operands)
        if channels is not None:
            count = tensor.shape.numel

            def fault(name: str = name, operands: str = operands, count: Dim = count) -> Fault:
                reason = f"{name} has {count} values for {channels} channels (axis 1)"
                return ShapeError(operation, reason, operands, dims=(count, channels))

            require_equal(context, (input, tensor), count, channels, fault)


@op(
    "batch_norm",
    "torch.nn.functional.batch_norm",
    formula="y = (x - mean_c)/sqrt(var_c + eps)*w_c + b_c, c = axis 1",
    dtypes=_LIKE_STATISTICS,
)
def batch_norm(
    context: Context,
    input: TensorType,
    running_mean: Value,
    running_var: Value,
    weight: Value = None,
    bias: Value = None,
    training: Value = False,
    momentum: Value = 0.1,
    eps: Value = 1e-5,
) -> TensorType:
    """Normalise each channel (axis 1) over all other axes.

    Raises:
        ShapeError: a statistic or parameter has not one value for each channel, or in training there is one value.
    """
    if input.shape.rank == 1 and not context.is_never_equal(input.shape.dims[0], 0):
        return input  # torch takes a tensor of one axis if it is empty
    check_rank("batch_norm", input, 2)
    if flag(training):
        check_batch_values(input)
    statistics = (("running_mean", running_mean), ("running_var", running_var))
    _check_per_channel(context, "batch_norm", input, *statistics, vectors=True)
    _check_per_channel(context, "batch_norm", input, ("weight", weight), ("bias", bias))
    return input


def check_batch_values(input: TensorType) -> None:
    check_several_values("batch_norm", input, "channel", (0, *range(2, input.shape.rank or 0)))


def check_several_values(operation: str, input: TensorType, each: str, axes: tuple[int, ...]) -> None:
    """A mean over `axes` is of more than one value."""
    if input.shape.rank is not None and product([input.shape.dims[axis] for axis in axes]) == 1:
        raise ShapeError(operation, f"one value for each {each}, more expected in training", str(input))


@op(
    "instance_norm",
    "torch.nn.functional.instance_norm",
    formula="y = (x - mean_nc)/sqrt(var_nc + eps)*w_c + b_c, over the axes from 2",
    dtypes=_LIKE_STATISTICS,
)
def instance_norm(
    context: Context,
    input: TensorType,
    running_mean: Value = None,
    running_var: Value = None,
    weight: Value = None,
    bias: Value = None,
    use_input_stats: Value = True,
    momentum: Value = 0.1,
    eps: Value = 1e-5,
) -> TensorType:
    """Normalise each channel of each sample over the spatial axes.

    Raises:
        ShapeError: a statistic or parameter has not one value for each channel, or there is one value.
    """
    check_rank("instance_norm", input, 2)
    if flag(use_input_stats):
        check_several_values("instance_norm", input, "channel of a sample", tuple(range(2, input.shape.rank or 0)))
    statistics = (("running_mean", running_mean), ("running_var", running_var))
    _check_per_channel(context, "instance_norm", input, *statistics, vectors=True)
    _check_per_channel(context, "instance_norm", input, ("weight", weight), ("bias", bias))
    return input


def normalize_trailing(
    context: Context, operation: str, input: TensorType, normalized_shape: tuple[Dim, ...]
) -> TensorType:
    """The input, whose trailing sizes have to be `normalized_shape`."""
    count = len(normalized_shape)
    check_trailing(context, operation, input, normalized_shape)
    operands = f"{input} with normalized shape {Shape(normalized_shape)}"
    if input.shape.rank is not None and input.shape.rank < count:
        raise ShapeError(operation, f"{input.shape.rank} axes, at least {count} expected", operands)
    seen = input.shape if input.shape.rank is not None else context.with_ends(input.shape, 0, count)
    tensor = input.with_shape(seen)
    shape = seen
    for axis, expected in zip(range(-count, 0), normalized_shape, strict=True):
        found = tensor.shape.at(axis)
        if found is None:
            continue

        def fault(axis: int = axis, found: Dim = found, expected: Dim = expected) -> Fault:
            hint = last_axis_hint(tensor.shape, expected) if count == 1 else ""
            return ShapeError(
                operation, f"axis {axis} is {found}, {expected} expected", operands, hint, (found, expected)
            )

        size = require_equal(context, (tensor,), found, expected, fault)
        shape = shape if size == found else shape.replace(axis, size)
    if shape.rank is None and len(shape.tail) < count:
        shape = Shape.of(context.fresh_pack(), *normalized_shape[: count - len(shape.tail)], *shape.tail)
    return tensor.with_shape(shape)


def trailing_sizes(context: Context, operation: str, normalized_shape: Value) -> tuple[Dim, ...] | None:
    """`normalized_shape` as sizes, None if their number was not followed."""
    if isinstance(normalized_shape, (Dim, int)):
        return (option_size(context, normalized_shape),)
    values = listed(normalized_shape)
    if values == ():
        raise ShapeError(operation, "normalized_shape is empty")
    return None if values is None else tuple(option_size(context, value) for value in values)


def _check_trailing_parameter(
    context: Context, operation: str, name: str, value: Value, normalized_shape: tuple[Dim, ...]
) -> None:
    tensor = optional_tensor(context, value)
    if tensor is None or tensor.shape.rank is None:
        return
    reason = f"{name} {tensor} with normalized shape {Shape(normalized_shape)}"
    if tensor.shape.rank != len(normalized_shape):
        raise ShapeError(operation, f"{reason}: they have to be equal")
    for a, b in zip(tensor.shape.dims, normalized_shape, strict=True):

        def fault(a: Dim = a, b: Dim = b) -> Fault:
            return ShapeError(operation, f"{reason}: sizes {a} and {b} differ", dims=(a, b))

        require_equal(context, (tensor,), a, b, fault)


@op(
    "layer_norm",
    "torch.nn.functional.layer_norm",
    "torch.layer_norm",
    formula="y = (x - mean)/sqrt(var + eps)*w + b",
    dtypes=_LIKE_WEIGHT,
)
def layer_norm(
    context: Context,
    input: TensorType,
    normalized_shape: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-5,
    cudnn_enable: Value = True,
) -> TensorType:
    """Normalise over the trailing axes, whose sizes are `normalized_shape`.

    Raises:
        ShapeError: the trailing sizes or those of a parameter differ from it.
    """
    sizes = trailing_sizes(context, "layer_norm", normalized_shape)
    if sizes is None:
        return input
    for name, value in (("weight", weight), ("bias", bias)):
        _check_trailing_parameter(context, "layer_norm", name, value, sizes)
    return normalize_trailing(context, "layer_norm", input, sizes)


@op(
    "rms_norm",
    "torch.nn.functional.rms_norm",
    "torch.rms_norm",
    formula="y = x/sqrt(mean(x*x) + eps)*w",
    dtypes=takes(input=FLOATING),
)
def rms_norm(
    context: Context, input: TensorType, normalized_shape: Value, weight: Value = None, eps: Value = None
) -> TensorType:
    """Divide by the root of the mean square over the trailing axes, whose sizes are `normalized_shape`.

    Raises:
        ShapeError: the trailing sizes or those of the weight differ from it.
    """
    sizes = trailing_sizes(context, "rms_norm", normalized_shape)
    if sizes is None:
        return input
    _check_trailing_parameter(context, "rms_norm", "weight", weight, sizes)
    return normalize_trailing(context, "rms_norm", input, sizes)


@op(
    "group_norm",
    "torch.nn.functional.group_norm",
    "torch.group_norm",
    formula="y = (x - mean_ng)/sqrt(var_ng + eps)*w_c + b_c",
    dtypes=_LIKE_WEIGHT,
)
def group_norm(
    context: Context,
    input: TensorType,
    num_groups: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-5,
    cudnn_enabled: Value = True,
) -> TensorType:
    """Normalise each group of channels of each sample.

    Raises:
        ShapeError: the groups do not divide the channels, or a parameter has not one value for each channel.
    """
    check_rank("group_norm", input, 2)
    groups, channels = option_size(context, num_groups, low=1), input.shape.at(1)
    if channels is not None:
        check_divides(context, "group_norm", groups, channels, str(input))
    _check_per_channel(context, "group_norm", input, ("weight", weight), ("bias", bias), vectors=True)
    return input


def check_divides(context: Context, operation: str, groups: Dim, channels: Dim, operands: str = "") -> None:
    if is_less(context, groups, 1):
        raise ShapeError(operation, f"{groups} groups, at least 1 expected", operands, dims=(groups,))
    reason = f"{channels} channels do not divide into {groups} groups"
    require_divides(context, channels, groups, lambda: ShapeError(operation, reason, operands, dims=(channels, groups)))


@op(
    "local_response_norm", "torch.nn.functional.local_response_norm", formula="y = x/(k + alpha*mean(x*x near c))**beta"
)
def local_response_norm(
    context: Context, input: TensorType, size: Value, alpha: Value = 1e-4, beta: Value = 0.75, k: Value = 1.0
) -> TensorType:
    """Divide by a power of the mean square of `size` neighbouring channels.

    Raises:
        ShapeError: there are fewer than three axes.
    """
    check_rank("local_response_norm", input, 3)
    # An empty tensor is given back as it is, whatever its dtype.
    return input.with_dtype(DType(input.dtype.names | as_float(input.dtype).names))
