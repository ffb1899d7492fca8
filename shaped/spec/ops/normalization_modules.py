"""The modules of norms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.axis_layout import check_channels
from shaped.spec.dtype_demands import FLOATING, like_parameters_but_half, takes
from shaped.spec.op import Module, module, op
from shaped.spec.ops.arguments import with_rank
from shaped.spec.ops.lazy import declare_lazy
from shaped.spec.ops.linear import parameter_if
from shaped.spec.ops.normalization import (
    check_batch_values,
    check_divides,
    check_rank,
    check_several_values,
    group_norm,
    local_response_norm,
    normalize_channels,
    normalize_trailing,
    trailing_sizes,
)
from shaped.spec.ops.options import (
    flag,
    option_size,
    parameter_dtype,
)
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _both(a: Value, b: Value) -> bool | None:
    """Whether both flags are true, None where that was not followed."""
    flags = (flag(a), flag(b))
    return False if False in flags else None if None in flags else True


class _BatchNorm(Module):
    """Normalise each channel (axis 1) over the batch and the spatial axes."""

    dtypes = like_parameters_but_half("input")
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
        least, most = self.ranks
        check_rank("batch_norm", input, least, most)
        ranked = with_rank(context, input, least) if least == most else input
        if self.running_mean is None:  # then it is always as in training
            check_batch_values(ranked)
        checked = isinstance(self.weight, TensorType) or isinstance(self.running_mean, TensorType)
        result = normalize_channels(context, "batch_norm", ranked, self.num_features if checked else None)
        check_channels(context, "batch_norm", ranked, ranked.shape.least_rank - 2, channels=self.num_features)
        return result


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

    dtypes = like_parameters_but_half("input")
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
        check_rank("instance_norm", input, self.count + 1, self.count + 2)
        if self.running_mean is None and input.shape.rank is not None:  # then it is always as in training
            axes = tuple(range(input.shape.rank - self.count, input.shape.rank))
            check_several_values("instance_norm", input, "channel of a sample", axes)
        check_channels(context, "instance_norm", input, self.count, channels=self.num_features)
        # Without parameters torch only warns of other channels.
        checked = isinstance(self.weight, TensorType) or isinstance(self.running_mean, TensorType)
        if not checked or input.shape.at(-self.count - 1) is None:
            return input
        axis = -self.count - 1 if input.shape.rank is None else input.shape.rank - self.count - 1
        return normalize_channels(context, "instance_norm", input, self.num_features, axis)


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

    dtypes = like_parameters_but_half("input")

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
        self.sizes = trailing_sizes(context, "nn.LayerNorm", normalized_shape)
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
        return input if self.sizes is None else normalize_trailing(context, "layer_norm", input, self.sizes)


@module("torch.nn.RMSNorm")
class RMSNorm(Module):
    """Division by the root of the mean square over the trailing axes."""

    dtypes = takes(x=FLOATING)

    def __init__(
        self,
        context: Context,
        normalized_shape: Value,
        eps: Value = None,
        elementwise_affine: Value = True,
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.sizes = trailing_sizes(context, "nn.RMSNorm", normalized_shape)
        self.normalized_shape: Value = UNKNOWN if self.sizes is None else self.sizes
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight: Value = UNKNOWN
        if self.sizes is not None:
            self.weight = parameter_if(flag(elementwise_affine), Shape(self.sizes), parameter_dtype(dtype))

    def forward(self, context: Context, x: TensorType) -> TensorType:
        """(..., *normalized_shape) -> the same."""
        return x if self.sizes is None else normalize_trailing(context, "rms_norm", x, self.sizes)


@module("torch.nn.GroupNorm")
class GroupNorm(Module):
    """Normalisation of each group of channels."""

    dtypes = like_parameters_but_half("input")

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
        check_divides(context, "nn.GroupNorm", self.num_groups, self.num_channels)
        self.eps, self.affine = eps, affine
        shape, kind = Shape.of(self.num_channels), parameter_dtype(dtype)
        self.weight = parameter_if(flag(affine), shape, kind)
        self.bias = parameter_if(_both(affine, bias), shape, kind)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, num_channels, ...) -> the same."""
        if isinstance(self.weight, TensorType):
            check_rank("group_norm", input, 2)
            return normalize_channels(context, "group_norm", input, self.num_channels)
        return group_norm(context, input, self.num_groups)


@module("torch.nn.LocalResponseNorm", "torch.nn.CrossMapLRN2d")
class LocalResponseNorm(Module):
    """Division by a power of the mean square of neighbouring channels."""

    def __init__(self, context: Context, size: Value, alpha: Value = 1e-4, beta: Value = 0.75, k: Value = 1.0) -> None:
        self.size = size

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(batch, channels, ...) -> the same."""
        return local_response_norm(context, input, self.size)
