"""Normal elements on libtorch, with the bits of `sample_at` whichever library computes torch's `log`, `cos` and `sqrt`.

In a narrow dtype the library's float64 is off by a little, and rounds to the right number unless a boundary between two
numbers is within its error. Those elements, about one in a million, are computed by `sample_at` itself. In float64
each function is correctly rounded instead, by the sums of two float64 of `double_double`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shaped.init.double_double_cos import cos
from shaped.init.double_double_ln import ln
from shaped.init.double_double_sqrt import sqrt
from shaped.init.rounding import rounded
from shaped.init.sampling import DIVISOR, LEAST_CLAMPED, TWO_PI, sample_at
from shaped.init.schemes import Normal, Scheme
from shaped.init.vectorised_bits import Stream
from shaped.init.vectorised_rounding import BITS, FORMATS, round_into

# What is assumed of torch's float64 functions: `log` is off by at most 2^-48 of its value, `sqrt` by 2^-51 of its, and
# `cos` by at most 2^-48, also where it is near 0. Libraries in use are 8 times closer or more. Then half the error of
# `log`, that of `cos`, those of `sqrt` and a few roundings, of 2^-53 each, make less than 2^-47 of the radius; the
# other half is for the roundings of the error and of the sums below.
ERROR_OF_RADIUS = 2.0**-46
# Products of a std below this can be subnormal, and are then off by more than that.
LEAST_STD = 2.0**-900
# Where more elements of a chunk are uncertain, as around a mean that is half way between two numbers, all are computed
# in float64, which takes as long as `sample_at` does for so many.
MOST_UNCERTAIN = 64


class _Uniforms:
    """The two numbers that each element is made of: u1, and the angle `2 pi u2`."""

    def __init__(self, scheme: Normal, seed: int, size: int, device: torch.device) -> None:
        self._mode = scheme.mode
        self._stream = Stream(seed, 2, size, device)
        self._radial = torch.empty(size, dtype=torch.float64, device=device)
        self._angles = torch.empty_like(self._radial)
        # A tensor, because on a GPU torch multiplies by the inverse of a Python number in place of dividing by it.
        self._divisor = torch.full((), DIVISOR, dtype=torch.float64, device=device)

    def draw(self, count: int, first: int) -> tuple[Tensor, Tensor]:
        radial, angles = self._radial[:count], self._angles[:count]
        if self._mode == "unmixed":
            self._stream.unmixed_low_bits_into(radial, 2 * first)
        else:
            self._stream.low_bits_into(radial, 2 * first)
        if self._mode == "clamped":
            radial.mul_(2.0**-32).clamp_(min=LEAST_CLAMPED)
        else:
            radial.add_(1.0).div_(self._divisor)
        self._stream.low_bits_into(angles, 2 * first + 1)
        # The product with a power of two is exact, so these are the bits of TWO_PI*(bits/2^32).
        angles.mul_(TWO_PI * 2.0**-32)
        return radial, angles


class NarrowNormalSampler:
    """Normal elements in float32, float16 and bfloat16, std 0 or at least `LEAST_STD`."""

    def __init__(self, scheme: Normal, seed: int, size: int, device: torch.device) -> None:
        self._scheme = scheme
        self._seed = seed
        self._uniforms = _Uniforms(scheme, seed, size, device)
        self._least = torch.empty(size, dtype=torch.float64, device=device)
        self._least_rounded: dict[torch.dtype, Tensor] = {}

    def draw_into(self, out: Tensor, first: int) -> None:
        """See `Sampler`."""
        count = out.numel()
        radial, angles = self._uniforms.draw(count, first)
        radius = radial.log_().mul_(-2.0).sqrt_().mul_(self._scheme.std)
        value = angles.cos_().mul_(radius)
        error = radius.mul_(ERROR_OF_RADIUS)

        # Sums and roundings are monotone, so the element is between these two.
        least = torch.sub(value, error, out=self._least[:count]).add_(self._scheme.mean)
        most = value.add_(error).add_(self._scheme.mean)
        least_rounded = self._buffer_like(out)
        round_into(least_rounded, least)
        round_into(out, most)
        least_bits, most_bits = least_rounded.view(BITS[out.dtype]), out.view(BITS[out.dtype])
        if torch.equal(least_bits, most_bits):
            return
        uncertain = (least_bits != most_bits).nonzero().flatten()
        if len(uncertain) <= MOST_UNCERTAIN:
            redo(out, uncertain, self._scheme, self._seed, first)
        else:
            ExactNormalSampler(self._scheme, self._seed, count, out.device).draw_into(out, first)

    def _buffer_like(self, out: Tensor) -> Tensor:
        if out.dtype not in self._least_rounded:
            self._least_rounded[out.dtype] = torch.empty_like(self._least, dtype=out.dtype)
        return self._least_rounded[out.dtype][: out.numel()]


def redo(out: Tensor, positions: Tensor, scheme: Scheme, seed: int, first: int) -> None:
    """Write the elements at some positions of `out`, whose own first position is `first`, by the specification."""
    if not len(positions):
        return
    to = FORMATS[out.dtype]
    values = [rounded(sample_at(scheme, seed, first + position), to) for position in positions.tolist()]
    out[positions] = torch.tensor(values, dtype=torch.float64, device=out.device).to(out.dtype)


class ExactNormalSampler:
    """Normal elements in float64, then rounded."""

    def __init__(self, scheme: Normal, seed: int, size: int, device: torch.device) -> None:
        self._scheme = scheme
        self._uniforms = _Uniforms(scheme, seed, size, device)

    def draw_into(self, out: Tensor, first: int) -> None:
        """See `Sampler`."""
        radial, angles = self._uniforms.draw(out.numel(), first)
        radius = sqrt(ln(radial).mul_(-2.0)).mul_(self._scheme.std)
        round_into(out, radius.mul_(cos(angles)).add_(self._scheme.mean))


def normal_sampler(
    scheme: Normal, seed: int, dtype: torch.dtype, size: int, device: torch.device
) -> NarrowNormalSampler | ExactNormalSampler:
    """The faster sampler of those that are right."""
    if dtype == torch.float64 or 0 < scheme.std < LEAST_STD:
        return ExactNormalSampler(scheme, seed, size, device)
    return NarrowNormalSampler(scheme, seed, size, device)
