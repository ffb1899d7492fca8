"""Layer, batch and group normalisation, forward and backward, by their formulas.

The variance is the mean of the squares of the differences from the mean, a sum of products of sums: by two passes, by
Welford's method, or as a difference of means (section 1.9: then its error is relative to the mean of squares).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from shaped.runtime.compiled.rounding.bounded import Bounded, add, applied, div, mul, number, sub
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import centred, count_over, mean, total


def _reshaped(x: Bounded, shape: Sequence[int]) -> Bounded:
    return Bounded(x.value.reshape(tuple(shape)), x.bound.reshape(tuple(shape)), x.format)


def _standardised(x: Bounded, axes: list[int], eps: float, to: Format) -> tuple[Bounded, Bounded, Bounded, Bounded]:
    """The standardised entries, the mean, the reciprocal deviation and the variance."""
    average, rest = centred(x, to, axes)
    variance = mean(mul(rest, rest, to), to, axes, keepdim=True)
    scale = applied(torch.rsqrt, add(variance, eps, to), to, domain=0.0, least=0.0)
    return mul(rest, scale, to), average, scale, variance


def _affine(x: Bounded, weight: Bounded | None, bias: Bounded | None, to: Format) -> Bounded:
    x = x if weight is None else mul(x, weight, to)
    return x if bias is None else add(x, bias, to)


def _backward(
    gradient: Bounded, x: Bounded, average: Bounded, scale: Bounded, axes: list[int], to: Format
) -> tuple[Bounded, Bounded]:
    """The gradient by what is standardised, of that by the standardised entries; and these."""
    standard = mul(sub(x, average, to), scale, to)
    inner = mean(mul(gradient, standard, to), to, axes, keepdim=True)
    rest = sub(sub(gradient, mean(gradient, to, axes, keepdim=True), to), mul(standard, inner, to), to)
    return mul(rest, scale, to), standard


@rule("native_layer_norm")
def layer_norm(
    to: Format,
    input: Bounded,  # noqa: A002  # torch's name, as all below
    normalized_shape: Sequence[int],
    weight: Bounded | None,
    bias: Bounded | None,
    eps: float,
) -> tuple[Bounded, Bounded, Bounded]:
    x = number(input, to)
    axes = list(range(x.value.ndim - len(normalized_shape), x.value.ndim))
    standard, average, scale, _ = _standardised(x, axes, eps, to)
    return _affine(standard, weight, bias, to), average, scale


@rule("native_layer_norm_backward")
def layer_norm_backward(
    to: Format,
    grad_out: Bounded,
    input: Bounded,  # noqa: A002
    normalized_shape: Sequence[int],
    mean: Bounded,
    rstd: Bounded,
    weight: Bounded | None,
    bias: Bounded | None,
    output_mask: Sequence[bool],
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    first = input.value.ndim - len(normalized_shape)
    axes, others = list(range(first, input.value.ndim)), list(range(first))
    gradient = grad_out if weight is None else mul(grad_out, weight, to)
    by_input, standard = _backward(gradient, input, mean, rstd, axes, to)
    by_weight = by_bias = None
    if output_mask[1] and weight is not None:
        by_weight = _summed(mul(grad_out, standard, to), others, to)
    if output_mask[2] and bias is not None:
        by_bias = _summed(grad_out, others, to)
    return by_input, by_weight, by_bias


def _summed(x: Bounded, axes: list[int], to: Format) -> Bounded:
    return total(x, to, axes) if axes else number(x, to)


def _by_channel(x: Bounded | None, ndim: int) -> Bounded | None:
    return None if x is None else _reshaped(x, (1, -1, *(1,) * (ndim - 2)))


def _update(running: Bounded | None, new: Bounded, momentum: float, to: Format) -> None:
    """A running statistic, in its own memory."""
    if running is not None:
        kept = mul(running, 1 - momentum, to)
        running.write(add(kept, mul(_reshaped(new, running.value.shape), momentum, to), to))


@rule("native_batch_norm", "_native_batch_norm_legit")
def batch_norm(
    to: Format,
    input: Bounded,  # noqa: A002
    weight: Bounded | None,
    bias: Bounded | None,
    running_mean: Bounded | None,
    running_var: Bounded | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    x = number(input, to)
    ndim = x.value.ndim
    axes = [0, *range(2, ndim)]
    of_weight, of_bias = _by_channel(weight, ndim), _by_channel(bias, ndim)
    if not training:
        assert running_mean is not None
        assert running_var is not None
        scale = applied(torch.rsqrt, add(running_var, eps, to), to, domain=0.0, least=0.0)
        rest = sub(x, _reshaped(running_mean, (1, -1, *(1,) * (ndim - 2))), to)
        standard = mul(rest, _reshaped(scale, (1, -1, *(1,) * (ndim - 2))), to)
        return _affine(standard, of_weight, of_bias, to), None, None
    standard, average, scale, variance = _standardised(x, axes, eps, to)
    count = count_over(x.value, axes)
    _update(running_mean, average, momentum, to)
    _update(running_var, div(mul(variance, float(count), to), float(count - 1), to), momentum, to)
    return _affine(standard, of_weight, of_bias, to), _reshaped(average, (-1,)), _reshaped(scale, (-1,))


@rule("_native_batch_norm_legit.no_stats")
def batch_norm_without_statistics(
    to: Format,
    input: Bounded,  # noqa: A002
    weight: Bounded | None,
    bias: Bounded | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    return batch_norm(to, input, weight, bias, None, None, True, momentum, eps)


@rule("_native_batch_norm_legit_no_training")
def batch_norm_of_statistics(
    to: Format,
    input: Bounded,  # noqa: A002
    weight: Bounded | None,
    bias: Bounded | None,
    running_mean: Bounded,
    running_var: Bounded,
    momentum: float,
    eps: float,
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    return batch_norm(to, input, weight, bias, running_mean, running_var, False, momentum, eps)


@rule("native_batch_norm_backward")
def batch_norm_backward(
    to: Format,
    grad_out: Bounded,
    input: Bounded,  # noqa: A002
    weight: Bounded | None,
    running_mean: Bounded | None,
    running_var: Bounded | None,
    save_mean: Bounded | None,
    save_invstd: Bounded | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    x, ndim = number(input, to), input.value.ndim
    axes, shape = [0, *range(2, ndim)], (1, -1, *(1,) * (ndim - 2))
    of_weight = _by_channel(weight, ndim)
    gradient = grad_out if of_weight is None else mul(grad_out, of_weight, to)
    if train:
        assert save_mean is not None
        assert save_invstd is not None
        average, scale = _reshaped(save_mean, shape), _reshaped(save_invstd, shape)
        by_input, standard = _backward(gradient, x, average, scale, axes, to)
    else:
        assert running_mean is not None
        assert running_var is not None
        scale = applied(torch.rsqrt, add(_reshaped(running_var, shape), eps, to), to, domain=0.0, least=0.0)
        by_input = mul(gradient, scale, to)
        standard = mul(sub(x, _reshaped(running_mean, shape), to), scale, to)
    by_weight = total(mul(grad_out, standard, to), to, axes) if output_mask[1] else None
    return by_input, by_weight, total(number(grad_out, to), to, axes) if output_mask[2] else None


@rule("native_group_norm")
def group_norm(
    to: Format,
    input: Bounded,  # noqa: A002
    weight: Bounded | None,
    bias: Bounded | None,
    N: int,  # noqa: N803  # torch's names
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    eps: float,
) -> tuple[Bounded, Bounded, Bounded]:
    grouped = _reshaped(number(input, to), (N, group, -1))
    standard, average, scale, _ = _standardised(grouped, [2], eps, to)
    by_channel = _affine(_reshaped(standard, (N, C, -1)), _by_channel(weight, 3), _by_channel(bias, 3), to)
    return _reshaped(by_channel, input.value.shape), _reshaped(average, (N, group)), _reshaped(scale, (N, group))


@rule("native_group_norm_backward")
def group_norm_backward(
    to: Format,
    grad_out: Bounded,
    input: Bounded,  # noqa: A002
    mean: Bounded,
    rstd: Bounded,
    weight: Bounded | None,
    N: int,  # noqa: N803
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    plain = _reshaped(number(grad_out, to), (N, C, HxW))
    of_weight = _by_channel(weight, 3)
    gradient = _reshaped(plain if of_weight is None else mul(plain, of_weight, to), (N, group, -1))
    x = _reshaped(number(input, to), (N, group, -1))
    by_input, standard = _backward(gradient, x, _reshaped(mean, (N, group, 1)), _reshaped(rstd, (N, group, 1)), [2], to)
    by_weight = total(mul(plain, _reshaped(standard, (N, C, HxW)), to), to, [0, 2]) if output_mask[1] else None
    by_bias = total(plain, to, [0, 2]) if output_mask[2] else None
    return _reshaped(by_input, input.value.shape), by_weight, by_bias
