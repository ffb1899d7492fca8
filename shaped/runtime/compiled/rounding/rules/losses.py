"""Losses, forward and backward, by their formulas."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import LIBRARY, Bounded, Number, add, applied, div, mul, neg, number, sub
from shaped.runtime.compiled.rounding.choices import chosen, compared, maximum
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.derivatives import clipped
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import mean, total

_NONE, _MEAN, _SUM = 0, 1, 2


def _reduced(losses: Bounded, reduction: int, to: Format) -> Bounded:
    if reduction == _NONE:
        return losses
    return mean(losses, to) if reduction == _MEAN else total(losses, to)


def _share(x: Bounded, reduction: int) -> float:
    """The part that each entry has in the loss."""
    return 1 / x.value.numel() if reduction == _MEAN and x.value.numel() else 1.0


@rule("mse_loss")
def mse_loss(to: Format, self: Bounded, target: Bounded, reduction: int = _MEAN) -> Bounded:
    error = sub(self, target, to)
    return _reduced(mul(error, error, to), reduction, to)


@rule("mse_loss_backward")
def mse_loss_backward(to: Format, grad_output: Bounded, self: Bounded, target: Bounded, reduction: int) -> Bounded:
    return mul(mul(sub(self, target, to), 2 * _share(self, reduction), to), grad_output, to)


@rule("smooth_l1_loss")
def smooth_l1_loss(to: Format, self: Bounded, target: Bounded, reduction: int = _MEAN, beta: float = 1.0) -> Bounded:
    size = _size(sub(self, target, to), to)
    linear = sub(size, 0.5 * beta, to)
    if beta == 0:
        return _reduced(size, reduction, to)
    squared = div(mul(mul(size, size, to), 0.5, to), beta, to)
    return _reduced(chosen(compared(torch.lt, size, beta), squared, linear, to), reduction, to)


@rule("smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    to: Format, grad_output: Bounded, self: Bounded, target: Bounded, reduction: int, beta: float
) -> Bounded:
    error = sub(self, target, to)
    slope = clipped(div(error, beta, to), 1.0, to) if beta else applied(torch.sign, error, to, roundings=0.0)
    return mul(mul(slope, _share(self, reduction), to), grad_output, to)


@rule("huber_loss")
def huber_loss(to: Format, self: Bounded, target: Bounded, reduction: int = _MEAN, delta: float = 1.0) -> Bounded:
    size = _size(sub(self, target, to), to)
    squared, linear = mul(mul(size, size, to), 0.5, to), mul(sub(size, 0.5 * delta, to), delta, to)
    return _reduced(chosen(compared(torch.le, size, delta), squared, linear, to), reduction, to)


@rule("huber_loss_backward")
def huber_loss_backward(
    to: Format, grad_output: Bounded, self: Bounded, target: Bounded, reduction: int, delta: float
) -> Bounded:
    slope = clipped(sub(self, target, to), delta, to)
    return mul(mul(slope, _share(self, reduction), to), grad_output, to)


def _size(x: Bounded, to: Format) -> Bounded:
    return applied(torch.abs, x, to, roundings=0.0, turns=(0.0,), least=0.0)


@rule("binary_cross_entropy")
def binary_cross_entropy(
    to: Format, self: Bounded, target: Bounded, weight: Bounded | None = None, reduction: int = _MEAN
) -> Bounded:
    def logarithm(x: Bounded) -> Bounded:
        return maximum(applied(torch.log, x, to, domain=0.0), -100.0, to)

    self = number(self, to)
    no = mul(sub(1.0, target, to), logarithm(sub(1.0, self, to)), to)
    losses = neg(add(no, mul(target, logarithm(self), to), to))
    return _reduced(losses if weight is None else mul(losses, weight, to), reduction, to)


@rule("binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    to: Format,
    grad_output: Bounded,
    self: Bounded,
    target: Bounded,
    weight: Bounded | None = None,
    reduction: int = _MEAN,
) -> Bounded:
    variance = maximum(mul(sub(1.0, self, to), self, to), 1e-12, to)
    slope = div(mul(grad_output, sub(self, target, to), to), variance, to)
    slope = slope if weight is None else mul(slope, weight, to)
    return mul(slope, _share(self, reduction), to)


@rule("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    to: Format,
    self: Bounded,
    target: Bounded,
    weight: Bounded | None = None,
    pos_weight: Bounded | None = None,
    reduction: int = _MEAN,
) -> Bounded:
    x = number(self, to)
    logarithm = applied(F.logsigmoid, x, to, roundings=2 * LIBRARY)
    if pos_weight is not None:
        logarithm = mul(add(mul(sub(pos_weight, 1.0, to), target, to), 1.0, to), logarithm, to)
    losses = sub(mul(sub(1.0, target, to), x, to), logarithm, to)
    return _reduced(losses if weight is None else mul(losses, weight, to), reduction, to)


def _classes(self: Bounded) -> int:
    return 1 if self.value.ndim > 1 else 0


def _weights(
    target: Bounded, weight: Bounded | None, ignore_index: int, classes: int, to: Format
) -> tuple[Bounded, Tensor]:
    """The weight of each target, 0 of what is ignored; and the class of each, of what is ignored some class."""
    used = target.value != ignore_index
    places = torch.where(used, target.value, 0).clamp(0, classes - 1)
    if weight is None:
        return Bounded(used.double(), torch.zeros(used.shape, dtype=torch.float64), to), places
    of = number(weight, to)
    return Bounded(torch.where(used, of.value[places], 0.0), torch.where(used, of.bound[places], 0.0), to), places


@rule("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(
    to: Format, self: Bounded, target: Bounded, weight: Bounded | None, reduction: int, ignore_index: int
) -> tuple[Bounded, Bounded]:
    x, axis = number(self, to), _classes(self)
    weights, places = _weights(target, weight, ignore_index, x.value.shape[axis], to)
    place = places.unsqueeze(axis)
    picked = Bounded(x.value.gather(axis, place).squeeze(axis), x.bound.gather(axis, place).squeeze(axis), to)
    ignored = Bounded(weights.value == 0, torch.zeros_like(weights.value), to)
    losses = neg(chosen(ignored, 0.0, picked if weight is None else mul(weights, picked, to), to))
    # Without weights the sum of them is a count, which is exact.
    weight_sum = total(weights, to)
    if weight is None:
        weight_sum = Bounded(weight_sum.value, torch.zeros_like(weight_sum.bound), to)
    if reduction == _NONE:
        return losses, Bounded(torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64), to)
    summed = total(losses, to)
    return (summed if reduction == _SUM else div(summed, weight_sum, to)), weight_sum


@rule("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(
    to: Format,
    grad_output: Bounded,
    self: Bounded,
    target: Bounded,
    weight: Bounded | None,
    reduction: int,
    ignore_index: int,
    total_weight: Bounded,
) -> Bounded:
    axis = _classes(self)
    weights, places = _weights(target, weight, ignore_index, self.value.shape[axis], to)
    share: Number = grad_output if reduction != _MEAN else div(grad_output, total_weight, to)
    slopes = neg(mul(weights, share, to))
    zeros = torch.zeros_like(self.value, dtype=torch.float64)
    place = places.unsqueeze(axis)
    value = zeros.scatter(axis, place, slopes.value.expand(places.shape).unsqueeze(axis))
    bound = zeros.scatter(axis, place, slopes.bound.expand(places.shape).unsqueeze(axis))
    return Bounded(value, bound, to)
