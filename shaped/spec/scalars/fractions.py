"""Exact rational numbers. An elementary function has a value only where it is rational."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NoReturn

from shaped.spec.scalars.system import ObjectScalars, Reason, Undefined

# Where an elementary function is rational, and its value there; beside the functions that keep all fractions.
_RATIONAL_VALUES: dict[str, dict[Fraction, Fraction]] = {
    **{
        name: {Fraction(0): Fraction(0)}
        for name in ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "erfinv"]
    },
    **{name: {Fraction(0): Fraction(1)} for name in ["exp", "cos", "cosh"]},
    **{name: {Fraction(1): Fraction(0)} for name in ["log", "acos", "acosh"]},
    "sigmoid": {Fraction(0): Fraction(1, 2)},
    "lgamma": {Fraction(1): Fraction(0), Fraction(2): Fraction(0)},
    "digamma": {},
}


def outside_domain(function: str, value: Any) -> bool:
    """Whether an elementary function has no value at a number, one that compares exactly."""
    match function:
        case "log":
            return bool(value <= 0)
        case "asin" | "acos":
            return bool(abs(value) > 1)
        case "atanh" | "erfinv":
            return bool(abs(value) >= 1)
        case "acosh":
            return bool(value < 1)
        case "lgamma" | "digamma":
            return bool(value <= 0 and value == math.floor(value))
    return False


class Fractions(ObjectScalars):
    """The rational numbers, as `fractions.Fraction`."""

    name = "fractions"

    def constant(self, value: Fraction) -> Fraction:
        return value

    def pi(self) -> NoReturn:
        raise Undefined(Reason.IRRATIONAL)

    def given(self, value: Any) -> Fraction:
        return Fraction(value)

    def power_of(self, base: Any, exponent: Fraction) -> Fraction:
        return rational_power(base, exponent)

    def function_of(self, function: str, argument: Any) -> Fraction:
        match function:
            case "abs":
                return abs(Fraction(argument))
            case "sign":
                return Fraction(self.sign_of(argument))
            case "floor":
                return Fraction(math.floor(argument))
            case "round":  # to even at halves, as torch does
                return Fraction(round(argument))
        if outside_domain(function, argument):
            raise Undefined(Reason.DOMAIN)
        value = _RATIONAL_VALUES[function].get(argument)
        if value is None:
            raise Undefined(Reason.IRRATIONAL)
        return value

    def sign_of(self, value: Any) -> int:
        return int(value > 0) - int(value < 0)


def rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    """A power that is rational.

    >>> print(rational_power(Fraction(4, 9), Fraction(-3, 2)))
    27/8

    Raises:
        Undefined: it is not rational, or there is none.
    """
    if base == 0 and exponent < 0:
        raise Undefined(Reason.DIVISION)
    if exponent.denominator != 1:
        if base < 0:
            raise Undefined(Reason.ROOT)
        base = Fraction(
            _integer_root(base.numerator, exponent.denominator), _integer_root(base.denominator, exponent.denominator)
        )
    return Fraction(base**exponent.numerator)


def _integer_root(value: int, degree: int) -> int:
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    if low**degree != value:
        raise Undefined(Reason.IRRATIONAL)
    return low
