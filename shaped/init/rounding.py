"""A float64 rounded once to a narrower format, to the nearest, ties to even (IEEE 754)."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A binary floating-point format.

    Args:
        digits: of a number, the leading one counted.
        lowest: the exponent of its smallest positive number.
        highest: all its finite numbers are below 2^highest.
    """

    digits: int
    lowest: int
    highest: int


FLOAT64 = Format(53, -1074, 1024)
FLOAT32 = Format(24, -149, 128)
FLOAT16 = Format(11, -24, 16)
BFLOAT16 = Format(8, -133, 128)


def rounded(value: float, to: Format) -> float:
    """The number of the format `to` that is nearest to `value`, as a float64; too large a number becomes infinite.

    >>> rounded(0.1, FLOAT32), rounded(0.1, BFLOAT16), rounded(65520.0, FLOAT16)
    (0.10000000149011612, 0.10009765625, inf)
    """
    if value == 0 or not math.isfinite(value):
        return value
    _, exponent = math.frexp(value)
    if exponent > to.highest:
        return math.copysign(math.inf, value)
    unit = max(exponent - to.digits, to.lowest)
    # Both scalings are exact, and Python rounds a half to the even neighbour.
    count = round(math.ldexp(value, -unit))
    if abs(count) >= 1 << (to.highest - unit):
        return math.copysign(math.inf, value)
    return math.copysign(math.ldexp(count, unit), value)
