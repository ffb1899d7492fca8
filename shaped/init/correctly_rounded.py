"""`ln` and `cos` of a float64, correctly rounded: the float64 nearest to the true value.

A mathematical library is right to about one unit in the last place, and each is off at other arguments. Numbers that
are to have the same bits everywhere need functions that mathematics alone defines. Here both are computed with
integers, in units of 2^-precision, with a bound of the error. If all numbers within the bound round to one float64, it
is the answer; else the precision grows. That ends, because `ln x` (x not 1) and `cos x` (x not 0) of a rational x are
transcendental (Lindemann), so never half way between two float64.

Source: Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit" (1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

# 53 bits of the result, 54 that cancel where cos is nearest to 0, 23 that the error takes, 30 to be rarely in doubt.
FIRST_PRECISION = 160


def ln(x: float) -> float:
    """The float64 nearest to the natural logarithm of `x`.

    Raises:
        ValueError: `x` is not a finite number above 0.

    >>> ln(0.5)
    -0.6931471805599453
    """
    if not (math.isfinite(x) and x > 0):
        raise ValueError(f"ln: {x!r} is not a finite number above 0")
    return 0.0 if x == 1 else _nearest(lambda precision: ln_in_units(x, precision))


def cos(x: float) -> float:
    """The float64 nearest to the cosine of `x` radians.

    Raises:
        ValueError: |x| is 1024 or more, or not a number: the bound of the error holds below that only.

    >>> cos(1.5707963267948966)
    6.123233995736766e-17
    """
    if not abs(x) < 1024:
        raise ValueError(f"cos: {x!r} is not between -1024 and 1024")
    return 1.0 if x == 0 else _nearest(lambda precision: _cos_in_units(x, precision))


def _nearest(in_units: Callable[[int], int]) -> float:
    """The float64 nearest to a number that is `in_units(precision)*2^-precision`, but for the error of the series."""
    precision = FIRST_PRECISION
    while True:
        numerator, error = in_units(precision), error_in_units(precision)
        # Python divides ints with one rounding, to the nearest, ties to even.
        low, high = (numerator - error) / (1 << precision), (numerator + error) / (1 << precision)
        if low == high:
            return low
        precision *= 2


def error_in_units(precision: int) -> int:
    """The most that the functions below are off, in units of 2^-precision.

    None of their series has more than precision/2 terms, each cut off by less than two units, so a sum is off by at
    most `precision` units. It counts at most 1075 times (an exponent) or 16*652 times (pi, quarter turns), and twice.
    """
    return precision << 15


def ln_in_units(x: float, precision: int) -> int:
    """`ln x` in units of 2^-precision: `exponent*ln 2 + 2 artanh((m - 1)/(m + 1))`, m in [3/4, 3/2)."""
    mantissa, exponent = math.frexp(x)
    if mantissa < 0.75:
        mantissa, exponent = 2 * mantissa, exponent - 1
    numerator, denominator = mantissa.as_integer_ratio()
    return exponent * ln2_in_units(precision) + 2 * _artanh(numerator - denominator, numerator + denominator, precision)


def _cos_in_units(x: float, precision: int) -> int:
    """`cos x` in units of 2^-precision, by the remainder of `x` after the nearest number of quarter turns."""
    numerator, denominator = x.as_integer_ratio()
    angle = (numerator << precision) // denominator
    quarter_turn = pi_in_units(precision) >> 1
    turns = (2 * angle + quarter_turn) // (2 * quarter_turn)
    sine, cosine = sine_and_cosine_in_units(angle - turns * quarter_turn, precision)
    return (cosine, -sine, -cosine, sine)[turns % 4]


def sine_and_cosine_in_units(angle: int, precision: int) -> tuple[int, int]:
    """The sine and the cosine of an angle below 1, all three in units of 2^-precision, by their Taylor series at 0."""
    square = (angle * angle) >> precision
    sine, cosine = 0, 0
    odd, even, order, sign = abs(angle), 1 << precision, 1, 1
    while even:
        sine, cosine = sine + sign * odd, cosine + sign * even
        even = ((even * square) >> precision) // (order * (order + 1))
        odd = ((odd * square) >> precision) // ((order + 1) * (order + 2))
        order, sign = order + 2, -sign
    return (sine if angle >= 0 else -sine), cosine


@cache
def ln2_in_units(precision: int) -> int:
    """`ln 2` in units of 2^-precision."""
    return 2 * _artanh(1, 3, precision)


@cache
def pi_in_units(precision: int) -> int:
    """Pi in units of 2^-precision, by Machin's formula."""
    return 16 * _arctan_of_inverse(5, precision) - 4 * _arctan_of_inverse(239, precision)


def _artanh(numerator: int, denominator: int, precision: int) -> int:
    """`artanh(numerator/denominator)` by its series `s + s^3/3 + s^5/5 + ...`, |s| at most 1/3."""
    ratio = (abs(numerator) << precision) // denominator
    square = (ratio * ratio) >> precision
    total, power, order = 0, ratio, 1
    while power:
        total += power // order
        power = (power * square) >> precision
        order += 2
    return total if numerator >= 0 else -total


def _arctan_of_inverse(n: int, precision: int) -> int:
    """`arctan(1/n)` by its series `1/n - 1/(3 n^3) + 1/(5 n^5) - ...`."""
    total, power, order, sign = 0, (1 << precision) // n, 1, 1
    while power:
        total += sign * (power // order)
        power //= n * n
        order, sign = order + 2, -sign
    return total
