"""Numbers of 64 bits, rounded: the quick system, whole arrays at once."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.scalars.system import Array, Reason, Reasons, Scalars

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction


def digamma(value: float) -> float:
    """The derivative of lgamma, by its recurrence, reflection and asymptotic series (Abramowitz and Stegun 6.3).

    >>> round(digamma(1.0), 12)  # minus Euler's constant
    -0.577215664902
    """
    result = 0.0
    if value < 0.5:
        return digamma(1 - value) - math.pi / math.tan(math.pi * value)
    while value < 16:  # from here on the terms that the series below leaves out do not matter
        result -= 1 / value
        value += 1
    inverse = 1 / (value * value)
    series = 1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132))))
    return result + math.log(value) - 0.5 / value - inverse * series


def erfinv(value: float) -> float:
    """The inverse of erf, from the quantile of the normal distribution and one step of Newton's method.

    >>> round(erfinv(math.erf(0.7)), 12)
    0.7
    """
    guess = NormalDist().inv_cdf((value + 1) / 2) / math.sqrt(2)
    slope = 2 / math.sqrt(math.pi) * math.exp(-guess * guess)
    return guess - (math.erf(guess) - value) / slope if slope else guess


def sigmoid(values: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(values))
    return np.asarray(np.where(values >= 0, 1 / (1 + small), small / (1 + small)))


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return np.vectorize(function, otypes=[np.float64])


_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "erf": _each(math.erf),
    "erfinv": _each(erfinv),
    "lgamma": _each(math.lgamma),
    "digamma": _each(digamma),
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "round": np.rint,
}
# The numbers at which a function has no value; `inside` is a place at which it has one.
_OUTSIDE: dict[str, tuple[Callable[[Array], Array], float]] = {
    "log": (lambda x: x <= 0, 1.0),
    "asin": (lambda x: np.abs(x) > 1, 0.0),
    "acos": (lambda x: np.abs(x) > 1, 0.0),
    "atanh": (lambda x: np.abs(x) >= 1, 0.0),
    "erfinv": (lambda x: np.abs(x) >= 1, 0.0),
    "acosh": (lambda x: x < 1, 1.0),
    "lgamma": (lambda x: (x <= 0) & (x == np.floor(x)), 1.0),
    "digamma": (lambda x: (x <= 0) & (x == np.floor(x)), 1.0),
}


class Floats(Scalars):
    """Floats of 64 bits. A value that overflows, or is no number, is undefined."""

    name = "float64"
    dtype = np.float64

    def constant(self, value: Fraction) -> float:
        return float(value)

    def pi(self) -> float:
        return math.pi

    def given(self, value: Any) -> float:
        return float(value)

    def array(self, values: Any) -> Array:
        return np.asarray(values, dtype=np.float64)

    def power(self, base: Array, exponent: Fraction) -> tuple[Array, Reasons]:
        reasons = np.zeros(base.shape, dtype=np.int8)
        if exponent < 0:
            reasons[base == 0] = Reason.DIVISION
        if exponent.denominator != 1:
            reasons[base < 0] = Reason.ROOT
        base = np.where(reasons == 0, base, 1.0)
        with np.errstate(over="ignore"):
            if exponent.denominator == 2:  # exact where numpy's pow is not
                result = np.sqrt(base) ** exponent.numerator
            else:
                result = base ** (float(exponent) if exponent.denominator != 1 else exponent.numerator)
        return self._finite(result, reasons)

    def apply(self, function: str, argument: Array) -> tuple[Array, Reasons]:
        reasons = np.zeros(argument.shape, dtype=np.int8)
        if function in _OUTSIDE:
            is_outside, inside = _OUTSIDE[function]
            reasons[is_outside(argument)] = Reason.DOMAIN
            argument = np.where(reasons == 0, argument, inside)
        with np.errstate(over="ignore"):
            return self._finite(np.asarray(_FUNCTIONS[function](argument)), reasons)

    def sign(self, values: Array) -> tuple[Array, Reasons]:
        defined, reasons = self._finite(values, np.zeros(values.shape, dtype=np.int8))
        return np.sign(defined).astype(np.int8), reasons

    def add(self, left: Array, right: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(left + right)

    def multiply(self, left: Array, right: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(left * right)

    def greatest(self, left: Array, right: Array) -> tuple[Array, Reasons]:
        return np.maximum(left, right), None

    @staticmethod
    def _finite(values: Array, reasons: Array) -> tuple[Array, Reasons]:
        reasons[~np.isfinite(values) & (reasons == 0)] = Reason.OVERFLOW
        return (np.where(reasons == 0, values, 1.0), reasons) if reasons.any() else (values, None)
