"""Normalisation over a batch, the trailing axes, groups of channels or one sample, functions and modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import Fault, ShapeError
from shaped.spec.dims import Dim, product
from shaped.spec.dtypes import DType
from shaped.spec.op import Module, module, op
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.lazy import declare_lazy
from shaped.spec.ops.linear import parameter_if
from shaped.spec.ops.options import (
    flag,
    is_less,
    option_size,
    optional_tensor,
    parameter_dtype,
    require_divides,
    require_equal,
)
from shaped.spec.promotion import as_float
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _normalize_channels(
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


def _check_rank(operation: str, input: TensorType, least: int, most: int | None = None) -> None:
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


@op("batch_norm", "torch.nn.functional.batch_norm", formula="y = (x - mean_c)/sqrt(var_c + eps)*w_c + b_c, c = axis 1")
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
    _check_rank("batch_norm", input, 2)
    if flag(training):
        _check_batch_values(input)
    statistics = (("running_mean", running_mean), ("running_var", running_var))
    _check_per_channel(context, "batch_norm", input, *statistics, vectors=True)
    _check_per_channel(context, "batch_norm", input, ("weight", weight), ("bias", bias))
    return input


def _check_batch_values(input: TensorType) -> None:
    _check_several_values("batch_norm", input, "channel", (0, *range(2, input.shape.rank or 0)))


def _check_several_values(operation: str, input: TensorType, each: str, axes: tuple[int, ...]) -> None:
    """A mean over `axes` is of more than one value."""
    if input.shape.rank is not None and product([input.shape.dims[axis] for axis in axes]) == 1:
        raise ShapeError(operation, f"one value for each {each}, more expected in training", str(input))


@op(
    "instance_norm",
    "torch.nn.functional.instance_norm",
    formula="y = (x - mean_nc)/sqrt(var_nc + eps)*w_c + b_c, over the axes from 2",
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
    _check_rank("instance_norm", input, 2)
    if flag(use_input_stats):
        _check_several_values("instance_norm", input, "channel of a sample", tuple(range(2, input.shape.rank or 0)))
    statistics = (("running_mean", running_mean), ("running_var", running_var))
    _check_per_channel(context, "instance_norm", input, *statistics, vectors=True)
    _check_per_channel(context, "instance_norm", input, ("weight", weight), ("bias", bias))
    return input


def _normalize_trailing(
    context: Context, operation: str, input: TensorType, normalized_shape: tuple[Dim, ...]
) -> TensorType:
    """The input, whose trailing sizes have to be `normalized_shape`."""
    count = len(normalized_shape)
    operands = f"{input} with normalized shape {Shape(normalized_shape)}"
    if input.shape.rank is not None and input.shape.rank < count:
        raise ShapeError(operation, f"{input.shape.rank} axes, at least {count} expected", operands)
    shape = input.shape
    for axis, expected in zip(range(-count, 0), normalized_shape, strict=True):
        found = input.shape.at(axis)
        if found is None:
            continue

        def fault(axis: int = axis, found: Dim = found, expected: Dim = expected) -> Fault:
            hint = _last_axis_hint(input.shape, expected) if count == 1 else ""
            return ShapeError(
                operation, f"axis {axis} is {found}, {expected} expected", operands, hint, (found, expected)
            )

        size = require_equal(context, (input,), found, expected, fault)
        shape = shape if size == found else shape.replace(axis, size)
    if shape.rank is None and len(shape.tail) < count:
        shape = Shape.of(context.fresh_pack(), *normalized_shape[: count - len(shape.tail)], *shape.tail)
    return input.with_shape(shape)


def _last_axis_hint(shape: Shape, features: Dim) -> str:
    """The transposition that brings the features to the last axis, where exactly one axis has that size."""
    if shape.rank is None or features.has_unknown:
        return ""
    fitting = [i for i, dim in enumerate(shape.dims[:-1]) if dim == features]
    if len(fitting) != 1 or fitting == [0]:
        return ""
    order = [*(i for i in range(shape.rank) if i != fitting[0]), fitting[0]]
    if fitting[0] == shape.rank - 2:
        return f".transpose({shape.rank - 2}, {shape.rank - 1})?"
    return f".permute({', '.join(map(str, order))})?"


def _trailing_sizes(context: Context, operation: str, normalized_shape: Value) -> tuple[Dim, ...] | None:
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


@op("layer_norm", "torch.nn.functional.layer_norm", "torch.layer_norm", formula="y = (x - mean)/sqrt(var + eps)*w + b")
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
    sizes = _trailing_sizes(context, "layer_norm", normalized_shape)
    if sizes is None:
        return input
    for name, value in (("weight", weight), ("bias", bias)):
        _check_trailing_parameter(context, "layer_norm", name, value, sizes)
    return _normalize_trailing(context, "layer_norm", input, sizes)


@op("rms_norm", "torch.nn.functional.rms_norm", "torch.rms_norm", formula="y = x/sqrt(mean(x*x) + eps)*w")
def rms_norm(
    context: Context, input: TensorType, normalized_shape: Value, weight: Value = None, eps: Value = None
) -> TensorType:
    """Divide by the root of the mean square over the trailing axes, whose sizes are `normalized_shape`.

    Raises:
        ShapeError: the trailing sizes or those of the weight differ from it.
    """
    sizes = _trailing_sizes(context, "rms_norm", normalized_shape)
    if sizes is None:
        return input
    _check_trailing_parameter(context, "rms_norm", "weight", weight, sizes)
    return _normalize_trailing(context, "rms_norm", input, sizes)


@op(
    "group_norm",
    "torch.nn.functional.group_norm",
    "torch.group_norm",
    formula="y = (x - mean_ng)/sqrt(var_ng + eps)*w_c + b_c",
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
    _check_rank("group_norm", input, 2)
    groups, channels = option_size(context, num_groups, low=1), input.shape.at(1)
    if channels is not None:
        _check_divides(context, "group_norm", groups, channels, str(input))
    _check_per_channel(context, "group_norm", input, ("weight", weight), ("bias", bias), vectors=True)
    return input


def _check_divides(context: Context, operation: str, groups: Dim, channels: Dim, operands: str = "") -> None:
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
    _check_rank("local_response_norm", input, 3)
    # An empty tensor is given back as it is, whatever its dtype.
    return input.with_dtype(DType(input.dtype.names | as_float(input.dtype).names))


def _both(a: Value, b: Value) -> bool | None:
    """Whether both flags are true, None where that was not followed."""
    flags = (flag(a), flag(b))
    return False if False in flags else None if None in flags else True


class _BatchNorm(Module):
    """Normalise each channel (axis 1) over the batch and the spatial axes."""

    ranks: tuple[int, int | None] = (2, None)

    def __init__(
        self,
        context: Context,
        num_features: Value,
        eps: Value = 1e-5,
        momentum: Value = 0.1,
        affine: Value = True,
        track_running_stats: Value = True,
        device: Value = None,
        dtype: Value = None,
        *,
        bias: Value = True,
    ) -> None:
        self.num_features = option_size(context, num_features)
        self.eps, self.momentum, self.affine = eps, momentum, affine
        self.track_running_stats = track_running_stats
        shape, kind = Shape.of(self.num_features), parameter_dtype(dtype)
        self.weight = parameter_if(flag(affine), shape, kind)
        self.bias = parameter_if(_both(affine, bias), shape, kind)
        self.running_mean = parameter_if(flag(track_running_stats), shape, kind)
        self.running_var = parameter_if(flag(track_running_stats), shape, kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, num_features, ...) -> the same."""
        _check_rank("batch_norm", input, *self.ranks)
        if self.running_mean is None:  # then it is always as in training
            _check_batch_values(input)
        checked = isinstance(self.weight, TensorType) or isinstance(self.running_mean, TensorType)
        return _normalize_channels(context, "batch_norm", input, self.num_features if checked else None)


@module("torch.nn.BatchNorm1d")
class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (b, c) or (b, c, t)."""

    ranks = (2, 3)


@module("torch.nn.BatchNorm2d")
class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (b, c, h, w)."""

    ranks = (4, 4)


@module("torch.nn.BatchNorm3d")
class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (b, c, d, h, w)."""

    ranks = (5, 5)


@module("torch.nn.SyncBatchNorm")
class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes."""

    def __init__(
        self,
        context: Context,
        num_features: Value,
        eps: Value = 1e-5,
        momentum: Value = 0.1,
        affine: Value = True,
        track_running_stats: Value = True,
        process_group: Value = None,
        device: Value = None,
        dtype: Value = None,
        *,
        bias: Value = True,
    ) -> None:
        super().__init__(context, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)


@op("convert_sync_batchnorm", "torch.nn.SyncBatchNorm.convert_sync_batchnorm", formula="y = module")
def convert_sync_batchnorm(context: Context, module: Value, process_group: Value = None) -> Value:
    """The same module, its batch norms over several processes."""
    return module


class _InstanceNorm(Module):
    """Normalise each channel of each sample over the spatial axes."""

    count: int

    def __init__(
        self,
        context: Context,
        num_features: Value,
        eps: Value = 1e-5,
        momentum: Value = 0.1,
        affine: Value = False,
        track_running_stats: Value = False,
        device: Value = None,
        dtype: Value = None,
        *,
        bias: Value = True,
    ) -> None:
        self.num_features = option_size(context, num_features)
        self.eps, self.momentum, self.affine = eps, momentum, affine
        self.track_running_stats = track_running_stats
        shape, kind = Shape.of(self.num_features), parameter_dtype(dtype)
        self.weight = parameter_if(flag(affine), shape, kind)
        self.bias = parameter_if(_both(affine, bias), shape, kind)
        self.running_mean = parameter_if(flag(track_running_stats), shape, kind)
        self.running_var = parameter_if(flag(track_running_stats), shape, kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, num_features, *sizes) or (num_features, *sizes) -> the same."""
        _check_rank("instance_norm", input, self.count + 1, self.count + 2)
        # Without parameters torch only warns of other channels.
        checked = isinstance(self.weight, TensorType) or isinstance(self.running_mean, TensorType)
        if not checked or input.shape.at(-self.count - 1) is None:
            return input
        axis = -self.count - 1 if input.shape.rank is None else input.shape.rank - self.count - 1
        return _normalize_channels(context, "instance_norm", input, self.num_features, axis)


@module("torch.nn.InstanceNorm1d")
class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (b, c, t) or (c, t)."""

    count = 1


@module("torch.nn.InstanceNorm2d")
class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (b, c, h, w) or (c, h, w)."""

    count = 2


@module("torch.nn.InstanceNorm3d")
class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (b, c, d, h, w) or (c, d, h, w)."""

    count = 3


for _kind in (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    declare_lazy(_kind, affine=True, track_running_stats=True)


@module("torch.nn.LayerNorm")
class LayerNorm(Module):
    """Normalisation over the trailing axes."""

    def __init__(
        self,
        context: Context,
        normalized_shape: Value,
        eps: Value = 1e-5,
        elementwise_affine: Value = True,
        bias: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.sizes = _trailing_sizes(context, "nn.LayerNorm", normalized_shape)
        self.normalized_shape: Value = UNKNOWN if self.sizes is None else self.sizes
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight: Value = UNKNOWN
        self.bias: Value = UNKNOWN
        if self.sizes is not None:
            kind = parameter_dtype(dtype)
            self.weight = parameter_if(flag(elementwise_affine), Shape(self.sizes), kind)
            self.bias = parameter_if(_both(elementwise_affine, bias), Shape(self.sizes), kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(..., *normalized_shape) -> the same."""
        return input if self.sizes is None else _normalize_trailing(context, "layer_norm", input, self.sizes)


@module("torch.nn.RMSNorm")
class RMSNorm(Module):
    """Division by the root of the mean square over the trailing axes."""

    def __init__(
        self,
        context: Context,
        normalized_shape: Value,
        eps: Value = None,
        elementwise_affine: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.sizes = _trailing_sizes(context, "nn.RMSNorm", normalized_shape)
        self.normalized_shape: Value = UNKNOWN if self.sizes is None else self.sizes
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight: Value = UNKNOWN
        if self.sizes is not None:
            self.weight = parameter_if(flag(elementwise_affine), Shape(self.sizes), parameter_dtype(dtype))

    def forward(self, context: Context, x: TensorType) -> TensorType:
        """(..., *normalized_shape) -> the same."""
        return x if self.sizes is None else _normalize_trailing(context, "rms_norm", x, self.sizes)


@module("torch.nn.GroupNorm")
class GroupNorm(Module):
    """Normalisation of each group of channels."""

    def __init__(
        self,
        context: Context,
        num_groups: Value,
        num_channels: Value,
        eps: Value = 1e-5,
        affine: Value = True,
        device: Value = None,
        dtype: Value = None,
        *,
        bias: Value = True,
    ) -> None:
        self.num_groups = option_size(context, num_groups, low=1)
        self.num_channels = option_size(context, num_channels)
        _check_divides(context, "nn.GroupNorm", self.num_groups, self.num_channels)
        self.eps, self.affine = eps, affine
        shape, kind = Shape.of(self.num_channels), parameter_dtype(dtype)
        self.weight = parameter_if(flag(affine), shape, kind)
        self.bias = parameter_if(_both(affine, bias), shape, kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, num_channels, ...) -> the same."""
        if isinstance(self.weight, TensorType):
            _check_rank("group_norm", input, 2)
            return _normalize_channels(context, "group_norm", input, self.num_channels)
        return group_norm(context, input, self.num_groups)


@module("torch.nn.LocalResponseNorm", "torch.nn.CrossMapLRN2d")
class LocalResponseNorm(Module):
    """Division by a power of the mean square of neighbouring channels."""

    def __init__(self, context: Context, size: Value, alpha: Value = 1e-4, beta: Value = 0.75, k: Value = 1.0) -> None:
        self.size = size

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, channels, ...) -> the same."""
        return local_response_norm(context, input, self.size)
