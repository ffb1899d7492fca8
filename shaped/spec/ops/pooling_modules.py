"""The modules of pools: each keeps its window and calls the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.op import Module, module
from shaped.spec.ops.options import settled
from shaped.spec.ops.pooling import adaptive_pool, max_pool, pool, unpool, with_indices

if TYPE_CHECKING:
    from shaped.spec.context import Context
    from shaped.spec.values import TensorType, Value


def _settled_window(
    context: Context, count: int, kernel_size: Value, stride: Value, padding: Value
) -> tuple[Value, Value, Value]:
    """Kernel, stride and padding with fresh sizes for what was not followed; the stride is the kernel by default."""
    kernel = settled(context, kernel_size, count, low=1)
    return (
        kernel,
        kernel if stride is None else settled(context, stride, count, low=1),
        settled(context, padding, count),
    )


class _MaxPool(Module):
    count: int

    def __init__(
        self,
        context: Context,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        dilation: Value = 1,
        return_indices: Value = False,
        ceil_mode: Value = False,
    ) -> None:
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode
        self._window = _settled_window(context, self.count, kernel_size, stride, padding)
        self._dilation = settled(context, dilation, self.count, low=1)

    def forward(self, context: Context, input: TensorType) -> Value:
        """The pool of the input."""
        kernel, stride, padding = self._window
        return max_pool(
            context, self.count, input, kernel, stride, padding, self._dilation, self.ceil_mode, self.return_indices
        )


class _AvgPool(Module):
    count: int

    def __init__(
        self,
        context: Context,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        ceil_mode: Value = False,
        count_include_pad: Value = True,
        divisor_override: Value = None,
    ) -> None:
        self.kernel_size, self.padding, self.ceil_mode = kernel_size, padding, ceil_mode
        self.stride = kernel_size if stride is None else stride
        self._window = _settled_window(context, self.count, kernel_size, stride, padding)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """The pool of the input."""
        operation, (kernel, stride, padding) = f"avg_pool{self.count}d", self._window
        return pool(context, operation, self.count, input, kernel, stride, padding, 1, self.ceil_mode)


class _LPPool(Module):
    count: int

    def __init__(
        self,
        context: Context,
        norm_type: Value,
        kernel_size: Value,
        stride: Value = None,
        ceil_mode: Value = False,
    ) -> None:
        self.kernel_size, self.stride, self.ceil_mode = kernel_size, stride, ceil_mode
        self._window = _settled_window(context, self.count, kernel_size, stride, 0)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """The pool of the input."""
        operation, (kernel, stride, padding) = f"lp_pool{self.count}d", self._window
        return pool(context, operation, self.count, input, kernel, stride, padding, 1, self.ceil_mode)


class _AdaptiveAvgPool(Module):
    count: int

    def __init__(self, context: Context, output_size: Value) -> None:
        self.output_size = output_size
        self._sizes = settled(context, output_size, self.count)

    def forward(self, context: Context, input: TensorType) -> TensorType:
        """The pool of the input."""
        return adaptive_pool(context, f"adaptive_avg_pool{self.count}d", self.count, input, self._sizes)


class _AdaptiveMaxPool(Module):
    count: int

    def __init__(self, context: Context, output_size: Value, return_indices: Value = False) -> None:
        self.output_size, self.return_indices = output_size, return_indices
        self._sizes = settled(context, output_size, self.count)

    def forward(self, context: Context, input: TensorType) -> Value:
        """The pool of the input."""
        pooled = adaptive_pool(context, f"adaptive_max_pool{self.count}d", self.count, input, self._sizes)
        return with_indices(context, pooled, self.return_indices)


class _MaxUnpool(Module):
    count: int

    def __init__(self, context: Context, kernel_size: Value, stride: Value = None, padding: Value = 0) -> None:
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(
        self, context: Context, input: TensorType, indices: TensorType, output_size: Value = None
    ) -> TensorType:
        """The maxima put back."""
        return unpool(context, self.count, input, indices, self.kernel_size, self.stride, self.padding, output_size)


def _declare_for_each_count() -> None:
    kinds: dict[str, type[Module]] = {
        "MaxPool": _MaxPool,
        "AvgPool": _AvgPool,
        "LPPool": _LPPool,
        "AdaptiveAvgPool": _AdaptiveAvgPool,
        "AdaptiveMaxPool": _AdaptiveMaxPool,
        "MaxUnpool": _MaxUnpool,
    }
    for name, kind in kinds.items():
        for count in (1, 2, 3):
            module(f"torch.nn.{name}{count}d")(type(f"{name}{count}d", (kind,), {"count": count}))


_declare_for_each_count()
