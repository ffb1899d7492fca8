"""Elementary functions of values, each with the derivative that textbooks give.

exp and log are read through their images; tanh, sigmoid, sinh and cosh are rational in exp; sin and cos are a point of
the unit circle. `opaque` makes arbitrary functions of the residue, of which only the derivative is used.

Derivatives: Abramowitz and Stegun, chapter 4.
"""

from __future__ import annotations

import math
import zlib
from fractions import Fraction
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact import constants, field
from shaped.verify.exact.arithmetic import (
    add,
    divide,
    negative,
    square_root,
    subtract,
    times,
    whole_power,
)
from shaped.verify.exact.branches import current
from shaped.verify.exact.field import multiply, reduce
from shaped.verify.exact.value import Image, Value, lift

if TYPE_CHECKING:
    from collections.abc import Callable

_GREATEST_DEGREE = 64  # of the roots that powers with rational exponents are read as
_ROUNDING = 1e-15  # of an exponent


def salt(name: str) -> int:
    """A salt of its own for every function."""
    return zlib.crc32(name.encode())


def exp(value: object) -> Value:
    """e to the power of a value."""
    one = lift(value)
    image = one.exp_image()
    tangent = None if one.tangent is None else multiply(image, one.tangent)
    return Value(one.shadow.exp(), image, tangent, log=Image(lambda: one.residue))


def log(value: object) -> Value:
    """The natural logarithm."""
    one = lift(value)
    image = one.log_image()
    tangent = None if one.tangent is None else multiply(field.inverse(one.residue), one.tangent)
    return Value(one.shadow.log(), image, tangent, exp=Image(lambda: one.residue))


def _chain(value: Value, shadow: Tensor, residue: Tensor, slope: Callable[[], Tensor]) -> Value:
    """A function applied entry by entry, with the slope of its tangent."""
    tangent = None if value.tangent is None else multiply(value.tangent, slope())
    return Value(shadow, residue, tangent)


def tanh(value: object) -> Value:
    """(e^2x - 1) / (e^2x + 1)."""
    one = lift(value)
    square = field.power(one.exp_image(), 2)
    residue = multiply(reduce(square - 1), field.inverse(reduce(square + 1)))
    return _chain(one, one.shadow.tanh(), residue, lambda: reduce(1 - multiply(residue, residue)))


def sigmoid(value: object) -> Value:
    """e^x / (e^x + 1)."""
    one = lift(value)
    image = one.exp_image()
    residue = multiply(image, field.inverse(reduce(image + 1)))
    return _chain(one, one.shadow.sigmoid(), residue, lambda: multiply(residue, reduce(1 - residue)))


def sinh(value: object) -> Value:
    """(e^x - e^-x) / 2."""
    one = lift(value)
    return with_shadow(divide(subtract(exp(one), exp(negative(one))), 2), one.shadow.sinh())


def cosh(value: object) -> Value:
    """(e^x + e^-x) / 2."""
    one = lift(value)
    return with_shadow(divide(add(exp(one), exp(negative(one))), 2), one.shadow.cosh())


def with_shadow(value: Value, shadow: Tensor) -> Value:
    """The same value with a shadow that was computed more precisely."""
    return Value(shadow, value.residue, value.tangent, exp=value.exp, log=value.log)


def _circle(residue: Tensor) -> tuple[Tensor, Tensor]:
    """An arbitrary point (cos, sin) of the unit circle for each residue, mirrored for its negative; (1, 0) for 0."""
    upper = field.is_upper(residue)
    half = field.oracle(torch.where(upper, field.PRIME - residue, residue), salt("circle"))
    half = torch.where(upper, field.PRIME - half, half)
    half = torch.where(residue == 0, torch.zeros_like(half), half)
    square = multiply(half, half)
    scale = field.inverse(reduce(1 + square))
    return multiply(reduce(1 - square), scale), multiply(reduce(2 * half), scale)


def sin(value: object) -> Value:
    """The sine."""
    one = lift(value)
    cosine, sine = _circle(one.residue)
    return _chain(one, one.shadow.sin(), sine, lambda: cosine)


def cos(value: object) -> Value:
    """The cosine."""
    one = lift(value)
    cosine, sine = _circle(one.residue)
    return _chain(one, one.shadow.cos(), cosine, lambda: reduce(-sine))


def tan(value: object) -> Value:
    """The tangent."""
    return divide(sin(value), cos(value))


def opaque(
    name: str, shadow: Callable[[Tensor], Tensor], slope: Callable[[Value, Value], Value], value: object
) -> Value:
    """An arbitrary function of a value.

    Args:
        name: tells functions apart.
        shadow: the function over float64.
        slope: the derivative, of the argument and the result, neither with a tangent.
        value: the argument.
    """
    one = lift(value)
    residue = field.oracle(one.residue, salt(name))
    result = Value(shadow(one.shadow), residue)
    if one.tangent is not None:
        slope_residue = slope(one.without_tangent, result).residue
        result = Value(result.shadow, residue, multiply(one.tangent, slope_residue))
    return result


def odd_opaque(
    name: str, shadow: Callable[[Tensor], Tensor], slope: Callable[[Value, Value], Value], value: object
) -> Value:
    """An arbitrary function with `f(-v) = -f(v)`."""
    one = lift(value)
    upper = field.is_upper(one.residue)
    mirrored = opaque(name, shadow, slope, Value(one.shadow, torch.where(upper, reduce(-one.residue), one.residue)))
    residue = torch.where(upper, field.PRIME - mirrored.residue, mirrored.residue)
    residue = torch.where(one.residue == 0, torch.zeros_like(residue), residue)
    result = Value(shadow(one.shadow), residue)
    if one.tangent is not None:
        slope_residue = slope(one.without_tangent, result).residue
        result = Value(result.shadow, residue, multiply(one.tangent, slope_residue))
    return result


def square(value: object) -> Value:
    """`value` squared."""
    return whole_power(lift(value), 2)


def expm1(value: object) -> Value:
    """exp - 1."""
    one = lift(value)
    return with_shadow(subtract(exp(one), 1), one.shadow.expm1())


def log1p(value: object) -> Value:
    """log(1 + value)."""
    one = lift(value)
    return with_shadow(log(add(one, 1)), one.shadow.log1p())


def exp2(value: object) -> Value:
    """2 to the power of a value."""
    return exp(times(value, math.log(2)))


def log2(value: object) -> Value:
    """The logarithm to base 2."""
    return divide(log(value), math.log(2))


def log10(value: object) -> Value:
    """The logarithm to base 10."""
    return divide(log(value), math.log(10))


def root(value: object, degree: int) -> Value:
    """The positive root of a whole degree."""
    one = lift(value)
    if degree == 1:
        return one
    if degree == 2:
        return square_root(one)
    candidate, true = field.nth_root(one.residue, degree)
    if degree % 2 == 0:
        current().took_roots(true)
    residue = torch.where(true, candidate, field.oracle(one.residue, salt(f"root {degree}")))
    return _chain(
        one,
        one.shadow ** (1 / degree),
        residue,
        lambda: field.inverse(multiply(torch.tensor(degree), field.power(residue, degree - 1))),
    )


def constant_power(value: object, exponent: float) -> Value:
    """`value` to a constant power.

    It is a whole power times one between 0 and 1, so that x^(k+1) is x times x^k.
    """
    one = lift(value)
    if float(exponent).is_integer():
        return whole_power(one, int(exponent))
    whole = math.floor(exponent)
    rest = _power_below_one(one.without_tangent, exponent - whole)
    residue = multiply(rest, field.power(one.residue, whole))

    def slope() -> Tensor:
        lower = multiply(rest, field.power(one.residue, whole - 1))
        return multiply(lower, torch.tensor(constants.of_float(exponent)))

    return _chain(one, one.shadow**exponent, residue, slope)


def _power_below_one(value: Value, exponent: float) -> Tensor:
    """Residues to a power below 1: of a true root where there is one, else an arbitrary function of the value."""
    key = field.oracle(torch.tensor(constants.of_float(exponent)), salt("exponent"))
    arbitrary = field.oracle(reduce(value.residue + key), salt("power"))
    ratio = Fraction(exponent).limit_denominator(_GREATEST_DEGREE)
    if abs(float(ratio) - exponent) > _ROUNDING:
        return arbitrary
    if ratio.denominator == 2:
        return square_root(value).residue
    candidate, true = field.nth_root(value.residue, ratio.denominator)
    if ratio.denominator % 2 == 0:
        current().took_roots(true)
    return torch.where(true, field.power(candidate, ratio.numerator), arbitrary)


def power(base: object, exponent: object) -> Value:
    """`base ** exponent`: exp(exponent * log(base)), where whole steps of the exponent are powers of the base."""
    if isinstance(exponent, (int, float)):
        return constant_power(base, float(exponent))
    one, other = lift(base), lift(exponent)
    shift, steps = other.shift or (other.residue, 0)
    # The base of the exponent times the logarithm: equal for all exponents that are whole steps apart.
    product = multiply(shift, one.log_image())
    unknown = Value(torch.zeros(product.shape, dtype=torch.float64), product).exp_image()
    residue = multiply(unknown, field.power(one.residue, steps))
    tangent: Tensor | None = None
    if one.tangent is not None:
        lower = multiply(unknown, field.power(one.residue, steps - 1))
        tangent = multiply(one.tangent, multiply(other.residue, lower))
    if other.tangent is not None:
        second = multiply(other.tangent, multiply(residue, one.log_image()))
        tangent = second if tangent is None else reduce(tangent + second)
    return Value(
        one.shadow**other.shadow, residue, tangent, log=Image(lambda: multiply(other.residue, one.log_image()))
    )


def xlogy(left: object, right: object) -> Value:
    """left * log(right)."""
    one, other = lift(left), lift(right)
    return with_shadow(times(one, log(other)), torch.xlogy(one.shadow, other.shadow))
