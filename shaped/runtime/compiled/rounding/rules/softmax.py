"""Softmax and its logarithm, forward and backward.

A kernel computes `exp(x_i - m) / sum_j exp(x_j - m)`, for some m. An error `d_j` of the exponents multiplies a term by
`exp(d_j)`, so a value `y_i` by at most `exp(d_i) sum_j y_j exp(d_j)`: the mean of `exp(-d)` is no less than one by that
of `exp(d)`. The exponents have the errors of the scores, and of the rounding of `x` and `m`, wherever a kernel does it:
before or after a factor of log2(e).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import LIBRARY, Bounded, applied, mul, number, settled, sub
from shaped.runtime.compiled.rounding.formats import Format, growth
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import axes_of, count_over, total

# torch's `exp_u20`, which its attention on CPUs and Inductor's softmax use, is right within 20 units in the last place.
EXPONENTIAL = 48.0


def _exponent_errors(x: Bounded, dim: list[int], to: Format) -> Tensor:
    """The errors of the exponents, those of scores and of rounding; none where a score is minus infinity."""
    greatest = x.value.amax(dim, keepdim=True)
    errors = x.bound + growth(2 * to.unit) * (x.reach + greatest.abs()) + growth(EXPONENTIAL * to.unit)
    # Each block of keys may be scaled to another greatest score: an exponential and a product more.
    blocks = count_over(x.value, dim) / 16
    errors = errors + growth(blocks * (EXPONENTIAL + 2) * to.unit)
    return torch.where((x.value == -math.inf) & (x.bound == 0), 0.0, errors)


def probabilities(x: Bounded, dim: int | list[int], to: Format) -> Bounded:
    """The softmax over axes."""
    x = number(x, to)
    axes = axes_of(x.value, dim)
    logarithms = x.value - x.value.logsumexp(axes, keepdim=True)
    value = logarithms.exp()
    errors = _exponent_errors(x, axes, to)
    spread = (logarithms + errors).exp().sum(axes, keepdim=True)  # sum_j y_j exp(d_j)
    # Of the sum, the division, and storing.
    own = growth((count_over(x.value, axes) + 4) * to.unit)
    upper = (logarithms + errors).exp() * spread * (1 + own)
    bound = upper - value
    # The least is y / (exp(d_i) spread), and so nearer, by 1 - 1/f <= f - 1.
    nothing = (x.value == -math.inf) & (x.bound == 0) & value.isfinite()
    bound = torch.where(nothing, 0.0, bound + value * 8 * to.unit + to.least_normal)
    return settled(value, bound, to, least=0.0)


def log_sum_exp(x: Bounded, dim: int | list[int], to: Format, keepdim: bool = True) -> Bounded:
    """`log sum exp` over axes: as far off as the greatest exponent, and by the rounding of the sum's logarithm."""
    x = number(x, to)
    axes = axes_of(x.value, dim)
    value = x.value.logsumexp(axes, keepdim)
    weights = x.value - x.value.logsumexp(axes, keepdim=True)
    errors = _exponent_errors(x, axes, to)
    bound = (weights + errors).exp().sum(axes, keepdim).log().abs()
    count = count_over(x.value, axes)
    greatest = x.value.amax(axes, keepdim).abs()
    relative = growth(count * to.unit)
    # The logarithm of the sum is no more than that of the number of its terms; it is added to the greatest.
    bound = bound + relative * (1 + relative) + growth(LIBRARY * to.unit) * (math.log(max(count, 1)) + 1)
    return settled(value, bound + growth(3 * to.unit) * (greatest + value.abs() + bound), to)


@rule("_softmax", "softmax", "_safe_softmax")
def softmax(
    to: Format, self: Bounded, dim: int, half_to_float: bool = False, dtype: torch.dtype | None = None
) -> Bounded:
    return probabilities(self, dim, to)


@rule("_log_softmax", "log_softmax")
def log_softmax(
    to: Format, self: Bounded, dim: int, half_to_float: bool = False, dtype: torch.dtype | None = None
) -> Bounded:
    """`x - log sum exp`; as a difference of scores and of a logarithm, or of all three."""
    x = number(self, to)
    normaliser = log_sum_exp(x, dim, to)
    greatest = x.value.amax(axes_of(x.value, dim), keepdim=True).abs()
    value = x.value - normaliser.value
    bound = x.bound + normaliser.bound + growth(4 * to.unit) * (x.reach + greatest + normaliser.value.abs())
    masked = (x.value == -math.inf) & (x.bound == 0)
    return settled(value, bound, to, same=masked)


@rule("logsumexp")
def logarithm_of_sum(to: Format, self: Bounded, dim: int | list[int], keepdim: bool = False) -> Bounded:
    return log_sum_exp(self, dim, to, keepdim)


@rule("_softmax_backward_data")
def softmax_backward(
    to: Format, grad_output: Bounded, output: Bounded, dim: int, input_dtype: torch.dtype | None = None
) -> Bounded:
    inner = total(mul(grad_output, output, to), to, dim, keepdim=True)
    return mul(output, sub(grad_output, inner, to), to)


@rule("_log_softmax_backward_data")
def log_softmax_backward(
    to: Format, grad_output: Bounded, output: Bounded, dim: int, input_dtype: torch.dtype | None = None
) -> Bounded:
    likely = applied(torch.exp, number(output, to), to, roundings=EXPONENTIAL, least=0.0)
    return sub(grad_output, mul(likely, total(number(grad_output, to), to, dim, keepdim=True), to), to)
