"""The modules of convolutions and transposed convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dtype_demands import like_parameters
from shaped.spec.op import Module, module
from shaped.spec.ops.convolution import Window, check_groups, check_output_padding, convolve, convolve_transposed
from shaped.spec.ops.lazy import declare_lazy
from shaped.spec.ops.options import (
    flag,
    is_less,
    option_size,
    option_sizes,
    parameter_dtype,
)
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


class _Convolution(Module):
    """What all convolution modules share: the checks of their constructor and their parameters."""

    dtypes = like_parameters("input")
    count: int
    is_transposed = False

    def __init__(
        self,
        context: Context,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value = 1,
        padding: Value = 0,
        dilation: Value = 1,
        groups: Value = 1,
        bias: Value = True,
        padding_mode: Value = "zeros",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        name = self.torch_name.removeprefix("torch.")
        self.in_channels = option_size(context, in_channels)
        self.out_channels = option_size(context, out_channels)
        self.kernel_size = option_sizes(context, kernel_size, self.count, name, "kernel_size", low=1)
        self.groups = option_size(context, groups, low=1)
        check_groups(context, name, self.in_channels, self.groups, "in_channels")
        check_groups(context, name, self.out_channels, self.groups, "out_channels")
        self.window = Window.read(context, name, self.kernel_size, stride, padding, dilation)
        self.stride, self.dilation = self.window.stride, self.window.dilation
        self.padding: Value = UNKNOWN if self.window.padding is None else self.window.padding
        self.padding_mode = padding_mode
        self.transposed: Value = self.is_transposed
        self._make_parameters(bias, dtype)

    def _make_parameters(self, bias: Value, dtype: Value) -> None:
        first, second = self.out_channels, self.in_channels
        if self.is_transposed:
            first, second = second, first
        kind = parameter_dtype(dtype)
        # Divided only where there are groups, so that the channels keep their origin.
        per_group = second if self.groups == 1 else second // self.groups
        self.weight = TensorType(Shape.of(first, per_group, *self.kernel_size), kind)
        has_bias = flag(bias)
        self.bias: Value = UNKNOWN if has_bias is None else None
        if has_bias:
            self.bias = TensorType(Shape.of(self.out_channels), kind)


class _ForwardConvolution(_Convolution):
    def forward(self, context: Context, input: TensorType) -> TensorType:
        """(..., in_channels, *sizes) -> (..., out_channels, *sizes')."""
        window = self.window
        if self.padding_mode != "zeros" and isinstance(window.padding, tuple):
            self._check_padding(context, input)
        operation = f"conv{self.count}d"
        return convolve(context, operation, input, self.weight, self.in_channels, self.out_channels, window)

    def _check_padding(self, context: Context, input: TensorType) -> None:
        """Reflected padding has to be smaller than the input, circular padding no larger."""
        assert isinstance(self.window.padding, tuple)
        least = {"reflect": 1, "circular": 0}.get(str(self.padding_mode))
        if least is None:
            return
        for axis, pad in enumerate(self.window.padding, start=-self.count):
            length = input.shape.at(axis)
            if length is not None and is_less(context, length, pad + least):
                reason = f"{self.padding_mode} padding {pad} needs an input of at least {pad + least}"
                raise ShapeError("pad", reason, str(input), dims=(length, pad))


class _TransposedConvolution(_Convolution):
    is_transposed = True

    def __init__(
        self,
        context: Context,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value = 1,
        padding: Value = 0,
        output_padding: Value = 0,
        groups: Value = 1,
        bias: Value = True,
        dilation: Value = 1,
        padding_mode: Value = "zeros",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        name = self.torch_name.removeprefix("torch.")
        self.output_padding = option_sizes(context, output_padding, self.count, name, "output_padding")
        super().__init__(
            context,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, context: Context, input: TensorType, output_size: Value = None) -> TensorType:
        """(..., in_channels, *sizes) -> (..., out_channels, *sizes')."""
        operation = f"conv_transpose{self.count}d"
        extra = self.output_padding if output_size is None else None
        if extra is not None:
            check_output_padding(context, operation, self.window, extra)
        return convolve_transposed(
            context,
            operation,
            input,
            self.weight,
            self.in_channels,
            self.out_channels,
            self.window,
            extra,
            output_size,
        )


@module("torch.nn.Conv1d")
class Conv1d(_ForwardConvolution):
    """A convolution along one axis."""

    count = 1


@module("torch.nn.Conv2d")
class Conv2d(_ForwardConvolution):
    """A convolution along two axes."""

    count = 2


@module("torch.nn.Conv3d")
class Conv3d(_ForwardConvolution):
    """A convolution along three axes."""

    count = 3


@module("torch.nn.ConvTranspose1d")
class ConvTranspose1d(_TransposedConvolution):
    """A transposed convolution along one axis."""

    count = 1


@module("torch.nn.ConvTranspose2d")
class ConvTranspose2d(_TransposedConvolution):
    """A transposed convolution along two axes."""

    count = 2


@module("torch.nn.ConvTranspose3d")
class ConvTranspose3d(_TransposedConvolution):
    """A transposed convolution along three axes."""

    count = 3


for _kind in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    declare_lazy(_kind)
