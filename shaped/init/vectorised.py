"""`sample_at` on libtorch, for many elements at a time: a sampler writes a run of consecutive elements into a tensor.

Zeros, ones and the uniform schemes are a few operations of IEEE 754, one after the other, as in the specification. The
normal schemes are in `vectorised_normal`.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from shaped.init.fans import interval
from shaped.init.schemes import KaimingUniform, Normal, Ones, Scheme, Uniform, XavierUniform, Zeros
from shaped.init.vectorised_bits import Stream
from shaped.init.vectorised_normal import normal_sampler
from shaped.init.vectorised_rounding import round_into


class Sampler(Protocol):
    """The elements of one scheme, seed and dtype. It reuses its tensors from call to call: it belongs to one thread."""

    def draw_into(self, out: Tensor, first: int) -> None:
        """Write the elements at `first, first + 1, ...` into `out`, a contiguous tensor of one axis."""


def sampler_of(scheme: Scheme, seed: int, dtype: torch.dtype, size: int, device: torch.device) -> Sampler:
    """The sampler of a scheme with its fans, for up to `size` elements a call, on a device that has float64."""
    match scheme:
        case Zeros():
            return ConstantSampler(0)
        case Ones():
            return ConstantSampler(1)
        case Uniform() | XavierUniform() | KaimingUniform():
            return UniformSampler(*interval(scheme), seed, size, device)
        case Normal():
            return normal_sampler(scheme, seed, dtype, size, device)


class ConstantSampler:
    """All elements the same."""

    def __init__(self, value: int) -> None:
        self._value = value

    def draw_into(self, out: Tensor, first: int) -> None:
        """See `Sampler`."""
        out.fill_(self._value)


class UniformSampler:
    """`low + u*width`, u a multiple of 2^-32 in [0, 1)."""

    def __init__(self, low: float, width: float, seed: int, size: int, device: torch.device) -> None:
        self._low = low
        self._width = width
        self._stream = Stream(seed, 1, size, device)
        self._values = torch.empty(size, dtype=torch.float64, device=device)

    def draw_into(self, out: Tensor, first: int) -> None:
        """See `Sampler`."""
        values = self._values[: out.numel()]
        self._stream.low_bits_into(values, first)
        values.mul_(2.0**-32).mul_(self._width).add_(self._low)
        round_into(out, values)
