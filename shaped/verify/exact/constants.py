"""The exact number that a float constant stands for.

A program writes `0.1` or `math.sqrt(2 / math.pi)`; what it means is 1/10 and the root, and the backward may write the
same number another way. A float is read as `q * sqrt(n) * u` with a rational `q` of small height, a small `n` and `u` a
power of sqrt(pi), log 2 or log 10, where that number lies within the rounding of the float. A random float fits one of
them with a probability below 1e-4; then it stands for a number that is equal in all its digits, wherever it occurs. All
other floats are what they are: dyadic fractions.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

import torch
from torch import Tensor

from shaped.verify.exact import field
from shaped.verify.exact.field import PRIME

_ROUNDING = {torch.float64: 2.0**-51, torch.float32: 2.0**-22, torch.float16: 2.0**-9, torch.bfloat16: 2.0**-6}
_DIGITS = {torch.float64: 12, torch.float32: 6, torch.float16: 3, torch.bfloat16: 2}
_HEIGHT: Final = 10**8  # numerator times denominator of what is found by continued fractions, for float64
_MOST_VALUES: Final = 4096  # a tensor of more different numbers is data, not a constant that a program wrote
AS_GOOD_AS_INFINITE: Final = 1e38  # the least of the greatest floats, by which masks stand for -inf
LOG_SALT: Final = 12


def _oracle(value: int, salt: int) -> int:
    return int(field.oracle(torch.tensor(value), salt))


# pi has a root, which makes sqrt(2/pi) one: the square of an arbitrary residue's square.
_ROOT_PI: Final = pow(_oracle(3, 101), 2, PRIME)
_UNITS: Final = (
    (1.0, 1),
    *((math.pi ** (k / 2), pow(_ROOT_PI, k, PRIME)) for k in (1, -1, 2, -2)),
    *((math.log(2) ** k, pow(_oracle(2, LOG_SALT), k, PRIME)) for k in (1, -1)),
    *((math.log(10) ** k, pow(_oracle(10, LOG_SALT), k, PRIME)) for k in (1, -1)),
)
INFINITE: Final = _oracle(5, 102)  # stands for inf; only its exp, 0, and branches are meant


def of_fraction(value: Fraction | int) -> int:
    """The residue of a rational number.

    >>> of_fraction(Fraction(1, 3)) * 3 % PRIME
    1
    """
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


@lru_cache(maxsize=65536)
def of_float(value: float, dtype: torch.dtype = torch.float64) -> int:
    """The residue of the number that a float stands for.

    Args:
        value: the float.
        dtype: its precision.

    >>> of_float(0.1) * 10 % PRIME
    1
    >>> of_float(2 ** -0.5) ** 2 * 2 % PRIME
    1
    """
    if not abs(value) < AS_GOOD_AS_INFINITE:
        return INFINITE if value > 0 else PRIME - INFINITE
    if value == int(value):
        return int(value) % PRIME
    if dtype not in _ROUNDING:
        dtype = torch.float64
    if (decimal := _decimal(value, dtype)) is not None:
        return of_fraction(decimal)
    for number, residue in _UNITS:
        rest = value / number
        if (found := _rational(rest, dtype)) is not None:
            return of_fraction(found) * residue % PRIME
        if (square := _rational(rest * rest, dtype)) is not None and (root := _root(square)) is not None:
            return (root if rest > 0 else PRIME - root) * residue % PRIME
    return of_fraction(Fraction(value))


def of_tensor(value: Tensor) -> Tensor:
    """The residues of a tensor of constants; integers and booleans are what they are."""
    if not value.is_floating_point():
        return field.reduce(value.long())
    flat = value.detach().reshape(-1)
    if not len(flat):
        return torch.empty(value.shape, dtype=torch.int64)
    if all(stride == 0 or size == 1 for stride, size in zip(value.stride(), value.shape)):
        return torch.tensor(of_float(float(flat[0]), value.dtype)).expand(value.shape)
    values, place = torch.unique(flat, return_inverse=True)
    if len(values) <= _MOST_VALUES:
        residues = torch.tensor([of_float(number, value.dtype) for number in values.tolist()], dtype=torch.int64)
    else:
        residues = _dyadic(values.double())
    return residues[place].reshape(value.shape)


def _dyadic(value: Tensor) -> Tensor:
    """The residues of floats taken as the fractions that they are."""
    mantissa, exponent = torch.frexp(torch.where(value.abs() < AS_GOOD_AS_INFINITE, value, 0.0))
    least = int(exponent.min())
    powers = torch.tensor([of_fraction(Fraction(2) ** (k - 53)) for k in range(least, int(exponent.max()) + 1)])
    residues = field.multiply(field.reduce((mantissa * 2**53).long()), powers[exponent - least])
    residues = torch.where(value >= AS_GOOD_AS_INFINITE, torch.tensor(INFINITE), residues)
    return torch.where(value <= -AS_GOOD_AS_INFINITE, torch.tensor(PRIME - INFINITE), residues)


def _decimal(value: float, dtype: torch.dtype) -> Fraction | None:
    """A number that is written with few digits."""
    text = repr(value) if dtype == torch.float64 else f"{value:.{_DIGITS[dtype]}g}"
    decimal = Decimal(text)
    if len(decimal.as_tuple().digits) > _DIGITS[dtype]:
        return None
    found = Fraction(decimal)
    return found if abs(float(found) - value) <= _ROUNDING[dtype] / 4 * abs(value) else None


def _rational(value: float, dtype: torch.dtype) -> Fraction | None:
    """A rational of small height within the rounding of a float."""
    tolerance = _ROUNDING[dtype]
    height = min(_HEIGHT, int(1e-4 / tolerance))
    bound = max(1, math.isqrt(int(height / max(abs(value), 1e-300)))) if abs(value) < height else 1
    found = Fraction(value).limit_denominator(bound)
    if found == 0 or abs(found.numerator) * found.denominator > height:
        return None
    return found if abs(float(found) - value) <= tolerance * abs(value) else None


def _root(value: Fraction) -> int | None:
    """The residue of the root of a positive rational, if there is one that is consistent with all other roots."""
    residue = of_fraction(value)
    root = pow(residue, (PRIME + 1) // 4, PRIME)
    return root if root * root % PRIME == residue else None
