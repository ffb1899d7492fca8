"""Elementary and special functions of values, each with the derivative that textbooks give.

exp and log are read through their images; tanh, sigmoid, sinh and cosh are rational in exp; sin and cos are a point of
the unit circle. All others are arbitrary functions of the residue, of which only the derivative is used.

Derivatives: Abramowitz and Stegun, chapters 4, 6, 7, 9.
"""

from __future__ import annotations

import math
import zlib
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from shaped.verify.exact import constants, field
from shaped.verify.exact.arithmetic import (
    absolute,
    add,
    divide,
    negative,
    reciprocal,
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


def _salt(name: str) -> int:
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
    half = field.oracle(torch.where(upper, field.PRIME - residue, residue), _salt("circle"))
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
    residue = field.oracle(one.residue, _salt(name))
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


_HALF_ROOT_PI = math.sqrt(math.pi) / 2
_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def erf(value: object) -> Value:
    """The error function."""
    return odd_opaque("erf", torch.erf, lambda x, y: times(exp(negative(square(x))), _TWO_OVER_ROOT_PI), value)


def erfc(value: object) -> Value:
    """1 - erf."""
    one = lift(value)
    return with_shadow(subtract(1, erf(one)), torch.erfc(one.shadow))


def erfinv(value: object) -> Value:
    """The inverse of erf."""
    return odd_opaque("erfinv", torch.erfinv, lambda x, y: times(exp(square(y)), _HALF_ROOT_PI), value)


def asin(value: object) -> Value:
    """The inverse of sin."""
    return odd_opaque("asin", torch.asin, lambda x, y: reciprocal(square_root(subtract(1, square(x)))), value)


def acos(value: object) -> Value:
    """pi/2 - asin."""
    one = lift(value)
    return with_shadow(subtract(math.pi / 2, asin(one)), one.shadow.acos())


def atan(value: object) -> Value:
    """The inverse of tan."""
    return odd_opaque("atan", torch.atan, lambda x, y: reciprocal(add(square(x), 1)), value)


def asinh(value: object) -> Value:
    """The inverse of sinh."""
    return odd_opaque("asinh", torch.asinh, lambda x, y: reciprocal(square_root(add(square(x), 1))), value)


def acosh(value: object) -> Value:
    """The inverse of cosh."""
    return opaque("acosh", torch.acosh, lambda x, y: reciprocal(square_root(subtract(square(x), 1))), value)


def atanh(value: object) -> Value:
    """The inverse of tanh."""
    return odd_opaque("atanh", torch.atanh, lambda x, y: reciprocal(subtract(1, square(x))), value)


def atan2(ordinate: object, abscissa: object) -> Value:
    """The angle of a point."""
    y, x = lift(ordinate), lift(abscissa)
    square_sum = add(square(y.without_tangent), square(x.without_tangent))
    key = field.oracle(reduce(y.residue * 3 + field.oracle(x.residue, _salt("atan2"))), _salt("atan2"))
    tangent: Tensor | None = None
    if y.tangent is not None or x.tangent is not None:
        rise = 0 if y.tangent is None else multiply(y.tangent, x.residue)
        run = 0 if x.tangent is None else multiply(x.tangent, y.residue)
        tangent = multiply(reduce(torch.as_tensor(rise - run)), field.inverse(square_sum.residue))
    return Value(torch.atan2(y.shadow, x.shadow), key, tangent)


def lgamma(value: object) -> Value:
    """log |gamma|."""
    return opaque("lgamma", torch.lgamma, lambda x, y: digamma(x), value)


def digamma(value: object) -> Value:
    """The derivative of lgamma."""
    return polygamma(0, value)


def polygamma(order: int, value: object) -> Value:
    """The derivatives of digamma."""
    function = torch.digamma if order == 0 else partial(torch.polygamma, order)
    return opaque(f"polygamma {order}", function, lambda x, y: polygamma(order + 1, x), value)


def i0(value: object) -> Value:
    """The modified Bessel function of order 0."""
    return opaque("i0", torch.special.i0, lambda x, y: i1(x), value)


def i1(value: object) -> Value:
    """The modified Bessel function of order 1."""
    return odd_opaque("i1", torch.special.i1, lambda x, y: subtract(i0(x), divide(y, x)), value)


def i0e(value: object) -> Value:
    """exp(-|x|) i0(x)."""
    one = lift(value)
    return with_shadow(times(exp(negative(absolute(one))), i0(one)), torch.special.i0e(one.shadow))


def i1e(value: object) -> Value:
    """exp(-|x|) i1(x)."""
    one = lift(value)
    return with_shadow(times(exp(negative(absolute(one))), i1(one)), torch.special.i1e(one.shadow))


def ndtr(value: object) -> Value:
    """The normal distribution function."""
    one = lift(value)
    return with_shadow(times(add(1, erf(times(one, 2**-0.5))), 0.5), torch.special.ndtr(one.shadow))


def ndtri(value: object) -> Value:
    """The inverse of the normal distribution function."""
    scale = math.sqrt(2 * math.pi)
    return opaque("ndtri", torch.special.ndtri, lambda x, y: times(exp(times(square(y), 0.5)), scale), value)


def log_ndtr(value: object) -> Value:
    """The logarithm of the normal distribution function."""
    one = lift(value)
    return with_shadow(log(ndtr(one)), torch.special.log_ndtr(one.shadow))


def erfcx(value: object) -> Value:
    """exp(x^2) erfc(x)."""
    one = lift(value)
    return with_shadow(times(exp(square(one)), erfc(one)), torch.special.erfcx(one.shadow))


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
    residue = torch.where(true, candidate, field.oracle(one.residue, _salt(f"root {degree}")))
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
    key = field.oracle(torch.tensor(constants.of_float(exponent)), _salt("exponent"))
    arbitrary = field.oracle(reduce(value.residue + key), _salt("power"))
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
