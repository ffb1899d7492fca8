"""The float formats of tensors, as far as rounding goes.

A kernel's operation gives `(x op y)(1 + d)` with `|d| <= u` (N. Higham, "Accuracy and Stability of Numerical
Algorithms", 2nd ed., section 2.2; all sections and equations named in this package are that book's), and `k` roundings
in a row make a relative error of at most `g(k) = ku / (1 - ku)` (lemma 3.1).

Kernels of 16 bits compute in 32 and round what they store: a sum of 256 terms that is held in bfloat16 may be wrong by
all of it, and no kernel in use does that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch

# The reference is itself computed, in 64 bits. Whatever a kernel may round, it may too, so this is part of each unit.
_REFERENCE_UNIT = 2.0**-53


class NoFormat(TypeError):
    """A dtype whose rounding is not known."""


@dataclass(frozen=True)
class Format:
    """How the numbers of a dtype are rounded; of integers and truth values, which are exact, all units are 0.

    Args:
        dtype: the dtype.
        unit: the unit roundoff of what kernels compute in, and the reference's own.
        least_normal: what is smaller there may be flushed to 0.
        stored_unit: the unit roundoff of storing, where that is another format; else 0.
        stored_least: the least number that can be stored, if so.
        largest: what is larger overflows.
    """

    dtype: torch.dtype
    unit: float
    least_normal: float
    stored_unit: float
    stored_least: float
    largest: float

    @property
    def is_float(self) -> bool:
        """Whether there is anything to round."""
        return self.unit > 0

    @property
    def precision(self) -> float:
        """The unit roundoff of its numbers."""
        return self.stored_unit or self.unit

    def holds(self, value: float) -> bool:
        """Whether a number needs no rounding."""
        return not self.is_float or torch.tensor(value, dtype=torch.float64).to(self.dtype).item() == value


def growth(roundings: float) -> float:
    """`g`: the relative error that roundings make that are so large in all; infinite where it is no longer small.

    >>> growth(0.5)
    1.0
    """
    return roundings / (1 - roundings) if roundings < 1 else math.inf


@cache
def format_of(dtype: torch.dtype) -> Format:
    """The format of a dtype.

    Raises:
        NoFormat: nothing is known of its rounding: complex numbers, floats of 8 bits.
    """
    if not dtype.is_floating_point and not dtype.is_complex:
        return Format(dtype, 0.0, 0.0, 0.0, 0.0, math.inf)
    if dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        raise NoFormat(f"{dtype} has no error bound: give tensors of float64, float32, float16 or bfloat16")
    of = torch.finfo(dtype)
    if of.bits > 16:
        return Format(dtype, of.eps / 2 + _REFERENCE_UNIT, of.tiny, 0.0, 0.0, of.max)
    inner = torch.finfo(torch.float32)
    # Conversions to 16 bits keep subnormal numbers; all of bfloat16 may be flushed, for they are float32's too.
    least = of.smallest_normal if dtype == torch.bfloat16 else of.smallest_normal * of.eps
    return Format(dtype, inner.eps / 2 + _REFERENCE_UNIT, inner.tiny, of.eps / 2, least, of.max)
