"""Pooling: means and greatest entries of windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, number, settled
from shaped.runtime.compiled.rounding.formats import Format, format_of
from shaped.runtime.compiled.rounding.rules.table import RULES, rule
from shaped.runtime.compiled.rounding.sums import linear

aten = torch.ops.aten


def _averages(name: str) -> None:
    """An average of windows, and where a backward spreads it: both linear, with coefficients that are not negative."""
    forward, backward = getattr(aten, name), getattr(aten, f"{name}_backward")

    def of_forward(to: Format, self: Bounded, *args: object, **named: object) -> Bounded:
        # Adaptive windows are no larger than the input; those of a kernel have its size.
        spatial = 3 if "3d" in name else 2
        inside = math.prod(self.value.shape[-spatial:])
        if "adaptive" not in name and isinstance(args[0], (list, tuple)):
            size = [int(each) for each in args[0]]
            inside = math.prod(size if len(size) == spatial else size * spatial)
        return linear(lambda x: forward(x, *args, **named), number(self, to), inside + 1, to)

    def of_backward(to: Format, grad_output: Bounded, self: Bounded, *args: object, **named: object) -> Bounded:
        def function(x: Tensor) -> Tensor:
            made: Tensor = backward(x, self.value, *args, **named)
            return made

        return linear(function, number(grad_output, to), grad_output.value.shape[-1] * grad_output.value.shape[-2], to)

    RULES[name], RULES[f"{name}_backward"] = of_forward, of_backward


for _name in ("avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d"):
    _averages(_name)


def _pair(size: Sequence[int]) -> list[int]:
    return [size[0], size[0]] if len(size) == 1 else list(size)


@rule("max_pool2d_with_indices")
def max_pool(
    to: Format,
    self: Bounded,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Bounded, Bounded]:
    """The greatest of the window is off by no more than the most of its entries; its place may be undecided.

    Of equal entries that are exact, the first, as torch's kernels have it.
    """
    x = number(self, to)
    window = (list(kernel_size), list(stride), list(padding), list(dilation), ceil_mode)

    def pooled(values: Tensor) -> Tensor:
        greatest: Tensor = aten.max_pool2d_with_indices(values, *window)[0]
        return greatest

    value, place = aten.max_pool2d_with_indices(x.value, *window)
    zero = torch.zeros_like(value)
    if x.is_exact:
        return Bounded(value, zero, to), Bounded(place, zero.clone(), format_of(torch.int64))

    def at_place(values: Tensor) -> Tensor:
        return values.flatten(-2).gather(-1, place.flatten(-2)).reshape(place.shape)

    low, high = pooled(x.low), pooled(x.high)
    reaching = _reaching(x, place, kernel_size, stride, padding, dilation)
    exact = (at_place(x.bound) == 0) & ~reaching
    bound = torch.where(exact, 0.0, torch.maximum(high - value, value - low))
    undecided = torch.where(reaching, math.inf, 0.0)
    return settled(value, bound, to, same=exact, stored=False), Bounded(place, undecided, format_of(torch.int64))


def _reaching(
    x: Bounded,
    place: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """Whether an entry of the window, but for the chosen one, may come out as great; not if both are exact."""
    kernel = _pair(kernel_size)
    steps, around, apart = _pair(stride or kernel), _pair(padding), _pair(dilation)
    height, width = x.value.shape[-2:]
    high, low, bounds = (each.flatten(-2) for each in (x.high, x.low, x.bound))
    chosen = place.flatten(-2)
    own_low, own_bound = (each.gather(-1, chosen).reshape(place.shape) for each in (low, bounds))
    found = torch.zeros_like(place, dtype=torch.bool)
    for i in range(kernel[0]):
        row = torch.arange(place.shape[-2]) * steps[0] - around[0] + i * apart[0]
        for j in range(kernel[1]):
            column = torch.arange(place.shape[-1]) * steps[1] - around[1] + j * apart[1]
            inside = ((row >= 0) & (row < height))[:, None] & ((column >= 0) & (column < width))[None, :]
            at = row.clamp(0, height - 1)[:, None] * width + column.clamp(0, width - 1)[None, :]
            inexact = (bounds[..., at] > 0) | (own_bound > 0)
            found |= inside & (at != place) & inexact & (high[..., at] >= own_low)
    return found


@rule("max_pool2d_with_indices_backward")
def max_pool_backward(
    to: Format,
    grad_output: Bounded,
    self: Bounded,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Bounded,
) -> Bounded:
    """Each window's gradient goes to one place; where that is undecided, any place of the window may get it, or not."""
    window = (list(kernel_size), list(stride), list(padding), list(dilation), ceil_mode)

    def function(x: Tensor) -> Tensor:
        made: Tensor = aten.max_pool2d_with_indices_backward(x, self.value.double(), *window, indices.value)
        return made

    kernel = _pair(kernel_size)
    spread = linear(function, number(grad_output, to), math.prod(kernel), to)
    if indices.is_exact:
        return spread
    undecided = torch.where(indices.bound > 0, grad_output.value.abs() + grad_output.bound, 0.0)
    spread.bound = spread.bound + 2 * _over_windows(undecided, self.value, kernel, stride, padding, dilation)
    spread.terms = None
    return spread


def _over_windows(
    each: Tensor,
    like: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """For each entry of the input the sum of what the windows have that it is in."""
    flat = each.reshape(-1, 1, *each.shape[-2:])
    steps, around, apart = _pair(stride or kernel), _pair(padding), _pair(dilation)
    ones = torch.ones(1, 1, *kernel, dtype=torch.float64)
    made = F.conv_transpose2d(flat, ones, stride=steps, dilation=apart)
    height, width = like.shape[-2:]
    made = F.pad(made, (0, max(0, around[1] + width - made.shape[-1]), 0, max(0, around[0] + height - made.shape[-2])))
    return made[..., around[0] : around[0] + height, around[1] : around[1] + width].reshape(like.shape)
