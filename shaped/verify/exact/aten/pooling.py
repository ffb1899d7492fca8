"""Rules of max pooling: the shadow says which entry of a window is taken."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.arithmetic import linear
from shaped.verify.exact.aten.registry import RULES
from shaped.verify.exact.branches import current, is_same
from shaped.verify.exact.value import Value

aten = torch.ops.aten

_NOISE = 1e-12  # tells ties apart, and nothing else that floats tell apart with certainty


def _pick(value: Value, index: Tensor, spatial: int) -> Value:
    """The entries at places in the flattened last dims."""
    leading = value.shape[: value.ndim - spatial]

    def pick(one: Tensor) -> Tensor:
        return one.reshape(*leading, -1).gather(-1, index.reshape(*leading, -1)).reshape(index.shape)

    return value.move(pick)


def _pool(name: str, spatial: int) -> None:
    operation = getattr(aten, name)

    def apply(value: Value, *arguments: Any, **options: Any) -> tuple[Value, Tensor]:
        arguments = tuple(one.shadow if isinstance(one, Value) else one for one in arguments)
        index: Tensor = operation(value.shadow, *arguments, **options)[1]
        result = _pick(value, index, spatial)
        if current().depends:
            # Entries that are equal are told apart by noise; one of the two signs takes another of them.
            noise = _NOISE * torch.rand(value.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
            for sign in (1, -1):
                noisy = value.shadow + sign * noise * value.shadow.abs().clamp(min=1e-300)
                other = _pick(value, operation(noisy, *arguments, **options)[1], spatial)
                if not bool(is_same(result, other).all()):
                    current().kink("a tie of the greatest")
                    break
            if bool(torch.isnan(result.shadow).any()):
                current().undecided()
        return result, index

    RULES[name] = apply


def _pool_backward(name: str, spatial: int) -> None:
    def apply(upstream: Value, data: Value, *arguments: Any) -> Value:
        index = next(one for one in arguments if isinstance(one, Tensor))
        sizes = data.shape[data.ndim - spatial :]
        leading = data.shape[: data.ndim - spatial]

        def place(one: Tensor) -> Tensor:
            empty = torch.zeros(*leading, sizes.numel(), dtype=one.dtype)
            return empty.scatter_add(-1, index.reshape(*leading, -1), one.reshape(*leading, -1)).reshape(data.shape)

        return linear(place, upstream)

    RULES[name] = apply


for _spatial in (2, 3):
    for _name in ("max_pool{}d_with_indices", "adaptive_max_pool{}d", "fractional_max_pool{}d"):
        _pool(_name.format(_spatial), _spatial)
        _pool_backward(_name.format(_spatial) + "_backward", _spatial)
