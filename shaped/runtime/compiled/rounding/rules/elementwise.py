"""Arithmetic and functions of single entries."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from shaped.runtime.compiled.rounding import bounded
from shaped.runtime.compiled.rounding.bounded import (
    LIBRARY,
    Bounded,
    Number,
    applied,
    constant,
    neg,
    number,
    settled,
    sub,
)
from shaped.runtime.compiled.rounding.choices import chosen, compared, maximum, minimum
from shaped.runtime.compiled.rounding.formats import Format, growth
from shaped.runtime.compiled.rounding.rules.table import RULES, rule

Roundings = float | Callable[[Tensor, Tensor], Tensor]


@rule("add")
def add(to: Format, self: Number, other: Number, alpha: float = 1) -> Bounded:
    return bounded.add(self, bounded.mul(number(other, to), alpha, to), to)


@rule("sub", "subtract")
def subtract(to: Format, self: Number, other: Number, alpha: float = 1) -> Bounded:
    return sub(self, bounded.mul(number(other, to), alpha, to), to)


@rule("rsub")
def reversed_subtract(to: Format, self: Number, other: Number, alpha: float = 1) -> Bounded:
    return subtract(to, other, self, alpha)


@rule("mul", "multiply")
def multiply(to: Format, self: Number, other: Number) -> Bounded:
    return bounded.mul(self, other, to)


@rule("div", "divide", "true_divide")
def divide(to: Format, self: Number, other: Number, rounding_mode: str | None = None) -> Bounded:
    ratio = bounded.div(self, other, to)
    if rounding_mode is None:
        return ratio
    return applied(torch.floor if rounding_mode == "floor" else torch.trunc, ratio, to, roundings=0.0)


@rule("reciprocal")
def reciprocal(to: Format, self: Bounded) -> Bounded:
    return bounded.div(1.0, self, to)


@rule("neg", "negative")
def negative(to: Format, self: Bounded) -> Bounded:
    return neg(number(self, to))


@rule("abs")
def magnitude(to: Format, self: Bounded) -> Bounded:
    return applied(torch.abs, number(self, to), to, roundings=0.0, turns=(0.0,), least=0.0)


@rule("square")
def square(to: Format, self: Bounded) -> Bounded:
    self = number(self, to)
    return bounded.mul(self, self, to)


@rule("sqrt")
def square_root(to: Format, self: Bounded) -> Bounded:
    return applied(torch.sqrt, number(self, to), to, domain=0.0, least=0.0)


@rule("rsqrt")
def reciprocal_square_root(to: Format, self: Bounded) -> Bounded:
    return applied(torch.rsqrt, number(self, to), to, domain=0.0, least=0.0)


@rule("pow.Tensor_Scalar")
def power(to: Format, self: Bounded, exponent: float) -> Bounded:
    self = number(self, to)
    simple = {1.0: negative, 2.0: square, 0.5: square_root, -0.5: reciprocal_square_root, -1.0: reciprocal}
    if exponent == 1:
        return self
    if exponent in simple:
        return simple[exponent](to, self)
    if float(exponent).is_integer() and exponent < 0:
        return bounded.div(1.0, power(to, self, -exponent), to)
    # By multiplications, as many as the exponent, or by the library.
    roundings = max(LIBRARY, abs(exponent) - 1)
    if exponent == 3:  # as torch does it, storing the square
        return bounded.mul(bounded.mul(self, self, to), self, to)
    whole = float(exponent).is_integer()
    return applied(
        lambda x: x.pow(exponent),
        self,
        to,
        roundings=roundings if exponent else 0.0,
        turns=(0.0,) if whole and exponent % 2 == 0 else (),
        least=0.0 if not whole or exponent % 2 == 0 else -math.inf,
    )


@rule("pow.Scalar")
def power_of_constant(to: Format, self: Number, exponent: Bounded) -> Bounded:
    return _power(to, number(self, to), number(exponent, to))


@rule("pow.Tensor_Tensor")
def power_of_tensors(to: Format, self: Bounded, exponent: Bounded) -> Bounded:
    return _power(to, number(self, to), number(exponent, to))


def _power(to: Format, base: Bounded, exponent: Bounded) -> Bounded:
    """Monotone in base and exponent, so extreme at the corners; no limit where the base may be 0."""
    value = base.value.pow(exponent.value)
    error = torch.zeros_like(value)
    for one in (base.low, base.high):
        for other in (exponent.low, exponent.high):
            error = torch.maximum(error, (one.pow(other) - value).abs())
    # With an exact whole exponent it is defined, but not monotone, below 0.
    exact = (base.bound == 0) & (exponent.bound == 0)
    error = torch.where(exact, 0.0, torch.where(base.low > 0, error, math.inf))
    return settled(value, error + growth(LIBRARY * to.unit) * (value.abs() + error) + to.least_normal, to)


def _function(
    function: Callable[[Tensor], Tensor],
    *,
    roundings: Roundings = LIBRARY,
    turns: tuple[float, ...] = (),
    domain: float = -math.inf,
    least: float = -math.inf,
) -> Callable[[Format, Bounded], Bounded]:
    def of(to: Format, self: Bounded) -> Bounded:
        return applied(function, number(self, to), to, roundings=roundings, turns=turns, domain=domain, least=least)

    return of


def _absolute(x: Tensor, y: Tensor) -> Tensor:
    """The error of a function made of ones that are right relative to 1: `erf` by a polynomial."""
    return LIBRARY * (y + 1)


RULES.update(
    {
        "exp": _function(torch.exp, least=0.0),
        "exp2": _function(torch.exp2, least=0.0),
        "expm1": _function(torch.expm1, least=-1.0),
        "log": _function(torch.log),
        "log2": _function(torch.log2),
        "log10": _function(torch.log10),
        "log1p": _function(torch.log1p),
        "sigmoid": _function(torch.sigmoid, least=0.0),
        "tanh": _function(torch.tanh),
        "erf": _function(torch.erf, roundings=_absolute),  # 5e-7 of Abramowitz and Stegun 7.1.26, as torch's AVX code
        "erfc": _function(torch.erfc, roundings=_absolute, least=0.0),
        "atan": _function(torch.atan),
        "asin": _function(torch.asin),
        "acos": _function(torch.acos),
        "sinh": _function(torch.sinh),
        "asinh": _function(torch.asinh),
        "cosh": _function(torch.cosh, turns=(0.0,), least=1.0),
        "acosh": _function(torch.acosh),
        "atanh": _function(torch.atanh),
        "floor": _function(torch.floor, roundings=0.0),
        "ceil": _function(torch.ceil, roundings=0.0),
        "round": _function(torch.round, roundings=0.0),
        "trunc": _function(torch.trunc, roundings=0.0),
        "sign": _function(torch.sign, roundings=0.0),
        "sgn": _function(torch.sgn, roundings=0.0),
        "relu": _function(torch.relu, roundings=0.0, least=0.0),
        "relu6": _function(F.relu6, roundings=0.0, least=0.0),
        "hardsigmoid": _function(F.hardsigmoid, roundings=lambda x, y: y + (x + 3) / 2),
        # 1 + tanh(.) and 1 + erf(.) leave the error of 1, times x.
        "hardswish": _function(F.hardswish, roundings=lambda x, y: 4 * y + 2 * x, turns=(-1.5,)),
        "silu": _function(F.silu, roundings=12.0, turns=(-1.2784645427610738,)),
        "mish": _function(F.mish, roundings=24.0, turns=(-1.192431252955164,)),
    }
)


@rule("gelu")
def gelu(to: Format, self: Bounded, approximate: str = "none") -> Bounded:
    # Where x and the slope of the distribution balance: the minimum, to more digits than it matters (it is flat).
    turn = -0.7517915246935645 if approximate == "none" else -0.7524614220710162
    return applied(
        partial(F.gelu, approximate=approximate),
        number(self, to),
        to,
        # 1 + tanh(.) and 1 + erf(.) have the error of 1, and are multiplied by x.
        roundings=lambda x, y: LIBRARY * (x + y),
        turns=(turn,),
    )


def _wave(function: Callable[[Tensor], Tensor]) -> Callable[[Format, Bounded], Bounded]:
    def of(to: Format, self: Bounded) -> Bounded:
        # The slope is at most 1; near a root the argument is reduced by a multiple of pi, with an error relative to 1.
        x = number(self, to)
        value = function(x.value)
        error = x.bound.clamp(max=2.0)
        error = torch.where(x.bound.isinf(), math.inf, error)
        return settled(value, error + growth(LIBRARY * to.unit) * (value.abs() + error) + to.least_normal, to)

    return of


RULES.update({"sin": _wave(torch.sin), "cos": _wave(torch.cos)})


@rule("softplus")
def softplus(to: Format, self: Bounded, beta: float = 1, threshold: float = 20) -> Bounded:
    scaled = bounded.mul(number(self, to), beta, to)
    smooth = applied(F.softplus, scaled, to, roundings=2 * LIBRARY, least=0.0)
    return chosen(compared(torch.gt, scaled, threshold), self, bounded.div(smooth, beta, to), to)


@rule("log_sigmoid_forward")
def log_sigmoid(to: Format, self: Bounded) -> tuple[Bounded, None]:
    # What it keeps for the backward depends on the device.
    return applied(F.logsigmoid, number(self, to), to, roundings=2 * LIBRARY), None


@rule("elu")
def elu(to: Format, self: Bounded, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Bounded:
    self = number(self, to)
    # exp(x) - 1 has the error of 1.
    below = applied(torch.expm1, bounded.mul(self, input_scale, to), to, roundings=_absolute)
    below = bounded.mul(below, constant(alpha * scale, to), to)
    return chosen(compared(torch.le, self, 0), below, bounded.mul(self, scale, to), to)


@rule("celu")
def celu(to: Format, self: Bounded, alpha: float = 1) -> Bounded:
    return elu(to, self, alpha, 1, 1 / alpha)


@rule("softshrink")
def softshrink(to: Format, self: Bounded, lambd: float = 0.5) -> Bounded:
    self = number(self, to)
    below = chosen(compared(torch.lt, self, -lambd), bounded.add(self, lambd, to), 0.0, to)
    return chosen(compared(torch.gt, self, lambd), sub(self, lambd, to), below, to)


@rule("hardshrink")
def hardshrink(to: Format, self: Bounded, lambd: float = 0.5) -> Bounded:
    below = chosen(compared(torch.lt, self, -lambd), self, 0.0, to)
    return chosen(compared(torch.gt, self, lambd), self, below, to)


@rule("leaky_relu")
def leaky_relu(to: Format, self: Bounded, negative_slope: float = 0.01) -> Bounded:
    self = number(self, to)
    return chosen(compared(torch.gt, self, 0), self, bounded.mul(self, negative_slope, to), to)


@rule("_prelu_kernel")
def prelu(to: Format, self: Bounded, weight: Bounded) -> Bounded:
    return chosen(compared(torch.gt, self, 0), self, bounded.mul(self, weight, to), to)


@rule("threshold")
def threshold(to: Format, self: Bounded, threshold: float, value: float) -> Bounded:
    return chosen(compared(torch.le, self, threshold), value, self, to)


@rule("hardtanh")
def hardtanh(to: Format, self: Bounded, min_val: float = -1, max_val: float = 1) -> Bounded:
    return clamp(to, self, min_val, max_val)


@rule("clamp", "clip")
def clamp(to: Format, self: Number, min: Number | None = None, max: Number | None = None) -> Bounded:  # noqa: A002
    result = number(self, to)
    result = result if min is None else maximum(result, min, to)
    return result if max is None else minimum(result, max, to)


@rule("clamp_min")
def clamp_min(to: Format, self: Bounded, min: Number) -> Bounded:  # noqa: A002
    return maximum(self, min, to)


@rule("clamp_max")
def clamp_max(to: Format, self: Bounded, max: Number) -> Bounded:  # noqa: A002
    return minimum(self, max, to)


@rule("maximum", "max.other", "fmax")
def greater_of(to: Format, self: Bounded, other: Number) -> Bounded:
    return maximum(self, other, to)


@rule("minimum", "min.other", "fmin")
def less_of(to: Format, self: Bounded, other: Number) -> Bounded:
    return minimum(self, other, to)


@rule("lerp")
def interpolate(to: Format, self: Bounded, end: Bounded, weight: Number) -> Bounded:
    """`self + weight (end - self)`, or `(1 - weight) self + weight end`; each term is rounded 5 times."""
    a, b, w = number(self, to), number(end, to), number(weight, to)
    value = a.value + w.value * (b.value - a.value)
    apart = (b.value - a.value).abs() + a.bound + b.bound
    error = (1 - w.value).abs() * a.bound + w.value.abs() * b.bound + w.bound * apart
    reach = a.reach + (w.value.abs() + w.bound) * (a.reach + b.reach)
    error = error + growth(5 * to.unit) * reach + reach.clamp(max=3 * to.least_normal)
    return settled(value, error, to)


@rule("addcmul")
def add_product(to: Format, self: Bounded, tensor1: Bounded, tensor2: Bounded, value: float = 1) -> Bounded:
    return bounded.add(self, bounded.mul(bounded.mul(tensor1, tensor2, to), value, to), to)


@rule("addcdiv")
def add_quotient(to: Format, self: Bounded, tensor1: Bounded, tensor2: Bounded, value: float = 1) -> Bounded:
    return bounded.add(self, bounded.mul(bounded.div(tensor1, tensor2, to), value, to), to)


@rule("xlogy")
def x_log_y(to: Format, self: Number, other: Number) -> Bounded:
    logarithm = applied(torch.log, number(other, to), to, domain=0.0)
    return chosen(compared(torch.eq, self, 0), 0.0, bounded.mul(self, logarithm, to), to)


@rule("glu")
def gated(to: Format, self: Bounded, dim: int = -1) -> Bounded:
    half = self.value.shape[dim] // 2
    first = Bounded(self.value.narrow(dim, 0, half), self.bound.narrow(dim, 0, half), self.format)
    second = Bounded(self.value.narrow(dim, half, half), self.bound.narrow(dim, half, half), self.format)
    return bounded.mul(first, applied(torch.sigmoid, second, to), to)
