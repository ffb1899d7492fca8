"""Modules that change a shape as one function does: flatten, pads, patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import ONE, ZERO
from shaped.spec.op import Module, find_op, module
from shaped.spec.ops.activation_modules import LAST, call_function
from shaped.spec.ops.arguments import listed
from shaped.spec.ops.options import option_sizes
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _call(context: Context, torch_name: str, *args: Value) -> Value:
    operation = find_op(torch_name)
    return UNKNOWN if operation is None else operation.apply(context, args, {})


@module("torch.nn.Flatten")
class Flatten(Module):
    """Several axes as one."""

    def __init__(self, context: Context, start_dim: Value = ONE, end_dim: Value = LAST) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, context: Context, input: TensorType) -> Value:
        """(b, *sizes) -> (b, their product)."""
        return _call(context, "torch.flatten", input, self.start_dim, self.end_dim)


@module("torch.nn.Unflatten")
class Unflatten(Module):
    """One axis as several."""

    def __init__(self, context: Context, dim: Value, unflattened_size: Value) -> None:
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, context: Context, input: TensorType) -> Value:
        """The axis replaced by the sizes."""
        return _call(context, "torch.unflatten", input, self.dim, self.unflattened_size)


@module("torch.nn.Fold")
class Fold(Module):
    """Patches added up to an image."""

    def __init__(
        self,
        context: Context,
        output_size: Value,
        kernel_size: Value,
        dilation: Value = ONE,
        padding: Value = ZERO,
        stride: Value = ONE,
    ) -> None:
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, context: Context, input: TensorType) -> Value:
        """(n, c*k, l) -> (n, c, *output_size)."""
        return call_function(
            context,
            "fold",
            input,
            self.output_size,
            self.kernel_size,
            self.dilation,
            self.padding,
            self.stride,
        )


@module("torch.nn.Unfold")
class Unfold(Module):
    """The patches of an image as columns."""

    def __init__(
        self, context: Context, kernel_size: Value, dilation: Value = ONE, padding: Value = ZERO, stride: Value = ONE
    ) -> None:
        self.kernel_size = kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, context: Context, input: TensorType) -> Value:
        """(n, c, h, w) -> (n, c*k, l)."""
        return call_function(context, "unfold", input, self.kernel_size, self.dilation, self.padding, self.stride)


class _Pad(Module):
    """A pad of `count` spatial axes on both sides; one int is for every side."""

    count: int
    mode: str

    def __init__(self, context: Context, padding: Value) -> None:
        self.padding = padding if listed(padding) is not None else option_sizes(context, padding, 2 * self.count)
        self.value: Value = 0.0

    def forward(self, context: Context, input: TensorType) -> Value:
        """(..., *sizes) -> (..., *sizes plus both pads)."""
        rank = input.shape.rank
        if self.mode != "constant" and rank is not None and rank not in (self.count + 1, self.count + 2):
            raise ShapeError("pad", f"{rank} axes, {self.count + 1} or {self.count + 2} expected", str(input))
        return call_function(context, "pad", input, self.padding, self.mode)


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, context: Context, padding: Value, value: Value) -> None:
        super().__init__(context, padding)
        self.value = value


def _declare_pads() -> None:
    modes = {
        "ZeroPad": "constant",
        "ReflectionPad": "reflect",
        "ReplicationPad": "replicate",
        "CircularPad": "circular",
    }
    for count in (1, 2, 3):
        for name, mode in modes.items():
            body = {"count": count, "mode": mode}
            module(f"torch.nn.{name}{count}d")(type(f"{name}{count}d", (_Pad,), body))
        module(f"torch.nn.ConstantPad{count}d")(type(f"ConstantPad{count}d", (_ConstantPad,), {"count": count}))


_declare_pads()
