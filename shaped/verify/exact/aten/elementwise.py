"""Rules of operations entry by entry."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact import arithmetic, functions, special
from shaped.verify.exact.arithmetic import add, divide, maximum, minimum, negative, reciprocal, subtract, times, where
from shaped.verify.exact.aten.registry import RULES, Rule, rule
from shaped.verify.exact.branches import compare
from shaped.verify.exact.value import Value, lift

_UNCHANGED: dict[str, Rule] = {
    "neg": negative,
    "reciprocal": reciprocal,
    "sqrt": arithmetic.square_root,
    "abs": arithmetic.absolute,
    "exp": functions.exp,
    "exp2": functions.exp2,
    "expm1": functions.expm1,
    "log": functions.log,
    "log2": functions.log2,
    "log10": functions.log10,
    "log1p": functions.log1p,
    "sin": functions.sin,
    "cos": functions.cos,
    "tan": functions.tan,
    "asin": special.asin,
    "acos": special.acos,
    "atan": special.atan,
    "atan2": special.atan2,
    "sinh": functions.sinh,
    "cosh": functions.cosh,
    "tanh": functions.tanh,
    "asinh": special.asinh,
    "acosh": special.acosh,
    "atanh": special.atanh,
    "sigmoid": functions.sigmoid,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "special_erfcx": special.erfcx,
    "special_ndtri": special.ndtri,
    "special_log_ndtr": special.log_ndtr,
    "lgamma": special.lgamma,
    "digamma": special.digamma,
    "i0": special.i0,
    "special_i1": special.i1,
    "special_i1e": special.i1e,
    "maximum": maximum,
    "fmax": maximum,
    "minimum": minimum,
    "fmin": minimum,
    "square": functions.square,
    "special_i0e": special.i0e,
}
RULES.update(_UNCHANGED)


@rule("add")
def _add(left: Any, right: Any, *, alpha: float = 1) -> Value:
    return add(left, right, alpha)


@rule("sub")
def _sub(left: Any, right: Any, *, alpha: float = 1) -> Value:
    return subtract(left, right, alpha)


@rule("rsub")
def _rsub(left: Any, right: Any, alpha: float = 1) -> Value:
    return subtract(right, left, alpha)


@rule("mul")
def _mul(left: Any, right: Any) -> Value:
    return times(left, right)


@rule("div.Tensor", "div.Scalar", "div.default", "true_divide")
def _div(left: Any, right: Any) -> Value:
    return divide(left, right)


@rule("div.Tensor_mode", "div.Scalar_mode")
def _div_mode(left: Any, right: Any, *, rounding_mode: str | None) -> Value:
    quotient = divide(left, right)
    if rounding_mode is None:
        return quotient
    return _whole(quotient, torch.floor if rounding_mode == "floor" else torch.trunc)


@rule("floor_divide")
def _floor_divide(left: Any, right: Any) -> Value:
    return _whole(divide(left, right), torch.floor)


@rule("remainder")
def _remainder(left: Any, right: Any) -> Value:
    return subtract(left, times(right, _whole(divide(left, right), torch.floor)))


@rule("fmod")
def _fmod(left: Any, right: Any) -> Value:
    return subtract(left, times(right, _whole(divide(left, right), torch.trunc)))


def _whole(value: Value, function: Any) -> Value:
    """A rounding function: constant between its steps, whose number the shadow tells."""
    return lift(function(value.shadow))


@rule("floor")
def _floor(value: Value) -> Value:
    return _whole(value, torch.floor)


@rule("ceil")
def _ceil(value: Value) -> Value:
    return _whole(value, torch.ceil)


@rule("trunc", "fix")
def _trunc(value: Value) -> Value:
    return _whole(value, torch.trunc)


@rule("round")
def _round(value: Value, *, decimals: int = 0) -> Value:
    return _whole(value, lambda shadow: torch.round(shadow, decimals=decimals))


@rule("frac")
def _frac(value: Value) -> Value:
    return subtract(value, _whole(value, torch.trunc))


@rule("sign", "sgn")
def _sign(value: Value) -> Value:
    positive, below = compare(torch.gt, value, 0), compare(torch.lt, value, 0)
    return lift(positive.double() - below.double())


@rule("copysign")
def _copysign(value: Any, sign: Any) -> Value:
    size = arithmetic.absolute(value)
    return where(~torch.signbit(lift(sign).shadow), size, negative(size))


@rule("pow", "float_power")
def _pow(base: Any, exponent: Any) -> Value:
    if isinstance(exponent, Tensor) and exponent.dim() == 0:
        exponent = exponent.item()
    return functions.power(base, exponent)


@rule("rsqrt")
def _rsqrt(value: Value) -> Value:
    return reciprocal(arithmetic.square_root(value))


@rule("xlogy", "special_xlogy")
def _xlogy(left: Any, right: Any) -> Value:
    return functions.xlogy(left, right)


@rule("polygamma")
def _polygamma(order: int, value: Value) -> Value:
    return special.polygamma(order, value)


@rule("relu")
def _relu(value: Value) -> Value:
    return where(compare(torch.gt, value, 0), value, 0)


@rule("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def _where(condition: Any, left: Any, right: Any) -> Value:
    return where(condition, left, right)


@rule("masked_fill")
def _masked_fill(value: Any, mask: Tensor, fill: Any) -> Value:
    return where(mask, fill, value)


@rule("clamp", "clamp_min", "clip")
def _clamp(value: Any, low: Any = None, high: Any = None) -> Value:
    result = lift(value)
    if low is not None:
        result = where(compare(torch.ge, result, low), result, low)
    if high is not None:
        result = where(compare(torch.le, result, high), result, high)
    return result


@rule("clamp_max")
def _clamp_max(value: Any, high: Any) -> Value:
    result: Value = _clamp(value, None, high)
    return result


@rule("hypot")
def _hypot(left: Any, right: Any) -> Value:
    return arithmetic.square_root(add(functions.square(left), functions.square(right)))


@rule("ldexp")
def _ldexp(value: Any, exponent: Any) -> Value:
    return times(value, functions.power(2.0, exponent))


@rule("lerp.Scalar", "lerp.Tensor")
def _lerp(start: Any, end: Any, weight: Any) -> Value:
    return add(start, times(weight, subtract(end, start)))


@rule("addcmul")
def _addcmul(start: Any, left: Any, right: Any, **options: float) -> Value:
    return add(start, times(left, right), options.get("value", 1))


@rule("addcdiv")
def _addcdiv(start: Any, left: Any, right: Any, **options: float) -> Value:
    return add(start, divide(left, right), options.get("value", 1))


@rule("softshrink_backward", "hardshrink_backward")
def _shrink_backward(upstream: Value, value: Value, threshold: Any) -> Value:
    inside = compare(torch.le, value, threshold) & compare(torch.ge, value, -threshold)
    return where(inside, 0, upstream)


@rule("angle")
def _angle(value: Value) -> Value:
    return where(compare(torch.lt, value, 0), math.pi, 0)
