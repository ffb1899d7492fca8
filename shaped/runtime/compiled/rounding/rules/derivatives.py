"""The derivatives of functions of single entries, as autograd's backward has them: by the formulas that they are."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import (
    LIBRARY,
    Bounded,
    add,
    applied,
    constant,
    div,
    mul,
    neg,
    number,
    sub,
)
from shaped.runtime.compiled.rounding.choices import chosen, compared, maximum
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.table import rule

_SQRT_HALF = math.sqrt(0.5)


@rule("threshold_backward")
def threshold_backward(to: Format, grad_output: Bounded, self: Bounded, threshold: float) -> Bounded:
    return chosen(compared(torch.le, self, threshold), 0.0, grad_output, to)


@rule("sigmoid_backward")
def sigmoid_backward(to: Format, grad_output: Bounded, output: Bounded) -> Bounded:
    return mul(mul(grad_output, sub(1.0, output, to), to), output, to)


@rule("tanh_backward")
def tanh_backward(to: Format, grad_output: Bounded, output: Bounded) -> Bounded:
    output = number(output, to)
    return mul(grad_output, sub(1.0, mul(output, output, to), to), to)


def _gelu_slope(x: Tensor) -> Tensor:
    density = torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return torch.where(x.isinf(), (x > 0).double(), 0.5 * (1 + torch.erf(x * _SQRT_HALF)) + x * density)


@rule("gelu_backward")
def gelu_backward(to: Format, grad_output: Bounded, self: Bounded, approximate: str = "none") -> Bounded:
    self = number(self, to)
    if approximate == "none":
        # The distribution and x times the density: right relative to 1, the density with the rounding of x^2.
        slope = applied(_gelu_slope, self, to, roundings=lambda x, y: 24 + 0 * x, turns=(-math.sqrt(2), math.sqrt(2)))
        return mul(grad_output, slope, to)
    inner_factor, cubic = math.sqrt(2 / math.pi), 0.044715
    squared = mul(self, self, to)
    inner = mul(mul(self, inner_factor, to), add(1.0, mul(squared, cubic, to), to), to)
    tanh = applied(torch.tanh, inner, to)
    left = mul(add(1.0, tanh, to), 0.5, to)
    slope_of_inner = mul(add(1.0, mul(squared, 3 * cubic, to), to), inner_factor, to)
    right = mul(mul(mul(self, 0.5, to), sub(1.0, mul(tanh, tanh, to), to), to), slope_of_inner, to)
    return mul(grad_output, add(left, right, to), to)


def _silu_slope(x: Tensor) -> Tensor:
    sigmoid = torch.sigmoid(x)
    return torch.where(x.isinf(), (x > 0).double(), sigmoid * (1 + x * (1 - sigmoid)))


@rule("silu_backward")
def silu_backward(to: Format, grad_output: Bounded, self: Bounded) -> Bounded:
    # 1 - sigmoid(x) has the error of 1, times x sigmoid(x).
    slope = applied(
        _silu_slope,
        number(self, to),
        to,
        roundings=lambda x, y: 24 * (1 + x.clamp(max=64)),
        turns=(-2.399357280515468, 2.399357280515468),
    )
    return mul(grad_output, slope, to)


@rule("elu_backward")
def elu_backward(
    to: Format,
    grad_output: Bounded,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: Bounded,
) -> Bounded:
    x, negative = number(self_or_result, to), constant(alpha * scale, to)
    if is_result:
        below = mul(mul(grad_output, input_scale, to), add(x, negative, to), to)
    else:
        exponential = applied(torch.exp, mul(x, input_scale, to), to)
        below = mul(mul(grad_output, constant(input_scale * alpha * scale, to), to), exponential, to)
    return chosen(compared(torch.le, x, 0), below, mul(grad_output, scale, to), to)


@rule("leaky_relu_backward")
def leaky_relu_backward(
    to: Format, grad_output: Bounded, self: Bounded, negative_slope: float, self_is_result: bool
) -> Bounded:
    return chosen(compared(torch.gt, self, 0), grad_output, mul(grad_output, negative_slope, to), to)


@rule("_prelu_kernel_backward")
def prelu_backward(to: Format, grad_output: Bounded, self: Bounded, weight: Bounded) -> tuple[Bounded, Bounded]:
    above = compared(torch.gt, self, 0)
    by_self = chosen(above, grad_output, mul(weight, grad_output, to), to)
    return by_self, chosen(above, 0.0, mul(self, grad_output, to), to)


@rule("softshrink_backward", "hardshrink_backward")
def shrink_backward(to: Format, grad_output: Bounded, self: Bounded, lambd: float) -> Bounded:
    below = chosen(compared(torch.lt, self, -lambd), grad_output, 0.0, to)
    return chosen(compared(torch.gt, self, lambd), grad_output, below, to)


@rule("hardtanh_backward")
def hardtanh_backward(to: Format, grad_output: Bounded, self: Bounded, min_val: float, max_val: float) -> Bounded:
    above = chosen(compared(torch.le, self, min_val), 0.0, grad_output, to)
    return chosen(compared(torch.ge, self, max_val), 0.0, above, to)


@rule("hardsigmoid_backward")
def hardsigmoid_backward(to: Format, grad_output: Bounded, self: Bounded) -> Bounded:
    sixth = constant(1 / 6, to)
    sixth.bound = sixth.bound.clamp(min=2.0**-27)  # torch's kernel of 64 bits, too, has it in 32
    inside = chosen(compared(torch.gt, self, -3), mul(grad_output, sixth, to), 0.0, to)
    return chosen(compared(torch.lt, self, 3), inside, 0.0, to)


@rule("hardswish_backward")
def hardswish_backward(to: Format, grad_output: Bounded, self: Bounded) -> Bounded:
    slope = add(div(self, 3.0, to), 0.5, to)
    below = chosen(compared(torch.gt, self, -3), mul(grad_output, slope, to), 0.0, to)
    return chosen(compared(torch.lt, self, 3), below, grad_output, to)


@rule("softplus_backward")
def softplus_backward(to: Format, grad_output: Bounded, self: Bounded, beta: float, threshold: float) -> Bounded:
    scaled = mul(number(self, to), beta, to)
    below = mul(grad_output, applied(torch.sigmoid, scaled, to, roundings=2 * LIBRARY), to)
    return chosen(compared(torch.gt, scaled, threshold), grad_output, below, to)


@rule("log_sigmoid_backward")
def log_sigmoid_backward(to: Format, grad_output: Bounded, self: Bounded, buffer: Bounded) -> Bounded:
    slope = applied(torch.sigmoid, neg(number(self, to)), to, roundings=2 * LIBRARY)
    return mul(grad_output, slope, to)


@rule("mish_backward")
def mish_backward(to: Format, grad_output: Bounded, self: Bounded) -> Bounded:
    self = number(self, to)
    smooth = applied(torch.nn.functional.softplus, self, to, roundings=2 * LIBRARY)
    tanh, sigmoid = applied(torch.tanh, smooth, to), applied(torch.sigmoid, self, to)
    rest = mul(mul(self, sigmoid, to), sub(1.0, mul(tanh, tanh, to), to), to)
    return mul(grad_output, add(tanh, rest, to), to)


@rule("glu_backward")
def glu_backward(to: Format, grad_output: Bounded, self: Bounded, dim: int) -> Bounded:
    half = self.value.shape[dim] // 2

    def part(start: int) -> Bounded:
        return Bounded(self.value.narrow(dim, start, half), self.bound.narrow(dim, start, half), self.format)

    gate = applied(torch.sigmoid, part(half), to)
    first = mul(grad_output, gate, to)
    second = mul(mul(first, part(0), to), sub(1.0, gate, to), to)
    value, bound = torch.cat([first.value, second.value], dim), torch.cat([first.bound, second.bound], dim)
    return Bounded(value, bound, to)


def clipped(x: Bounded, limit: float, to: Format) -> Bounded:
    """A number between `-limit` and `limit`."""
    return neg(maximum(neg(maximum(x, -limit, to)), -limit, to))
