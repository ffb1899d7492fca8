"""Inverse and special functions of values: arbitrary functions of the residue, of which the derivative is used.

Derivatives: Abramowitz and Stegun, chapters 4, 6, 7 and 9.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from shaped.verify.exact import field
from shaped.verify.exact.arithmetic import (
    absolute,
    add,
    divide,
    negative,
    reciprocal,
    square_root,
    subtract,
    times,
)
from shaped.verify.exact.field import multiply, reduce
from shaped.verify.exact.functions import exp, log, odd_opaque, opaque, salt, square, with_shadow
from shaped.verify.exact.value import Value, lift

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
    key = field.oracle(reduce(y.residue * 3 + field.oracle(x.residue, salt("atan2"))), salt("atan2"))
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
