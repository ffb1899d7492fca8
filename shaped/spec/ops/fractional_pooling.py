"""Maxima over windows whose places are drawn: an output of a given size, or of a part of the input's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.op import Module, module, op
from shaped.spec.ops.pooling import adaptive_pool, with_indices
from shaped.spec.values import UNKNOWN, TensorType, Value

if TYPE_CHECKING:
    from shaped.spec.context import Context


def _pooled(
    context: Context, count: int, input: TensorType, output_size: Value, output_ratio: Value, return_indices: Value
) -> Value:
    sizes = UNKNOWN if output_size is None or output_ratio is not None else output_size
    places = (UNKNOWN,) * count if sizes is UNKNOWN else sizes
    return with_indices(
        context, adaptive_pool(context, f"fractional_max_pool{count}d", count, input, places), return_indices
    )


def _declare(count: int) -> None:
    name = f"fractional_max_pool{count}d"

    @op(name, f"torch.nn.functional.{name}", formula="maxima over windows at random places")
    def pool(
        context: Context,
        input: TensorType,
        kernel_size: Value,
        output_size: Value = None,
        output_ratio: Value = None,
        return_indices: Value = False,
        _random_samples: Value = None,
    ) -> Value:
        return _pooled(context, count, input, output_size, output_ratio, return_indices)

    @op(f"{name}_with_indices", f"torch.nn.functional.{name}_with_indices", formula=f"{name} and where it found them")
    def both(
        context: Context,
        input: TensorType,
        kernel_size: Value,
        output_size: Value = None,
        output_ratio: Value = None,
        return_indices: Value = False,
        _random_samples: Value = None,
    ) -> Value:
        return _pooled(context, count, input, output_size, output_ratio, True)

    class FractionalMaxPool(Module):
        """Maxima over windows at random places."""

        def __init__(
            self,
            context: Context,
            kernel_size: Value,
            output_size: Value = None,
            output_ratio: Value = None,
            return_indices: Value = False,
            _random_samples: Value = None,
        ) -> None:
            self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
            self.return_indices = return_indices

        def forward(self, context: Context, input: TensorType) -> Value:
            """The pool of the input."""
            return _pooled(context, count, input, self.output_size, self.output_ratio, self.return_indices)

    module(f"torch.nn.FractionalMaxPool{count}d")(FractionalMaxPool)


_declare(2)
_declare(3)
