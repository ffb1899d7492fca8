"""Rules of distances between all pairs of rows, and of products of three."""

from __future__ import annotations

import math
from typing import Any

import torch

from shaped.verify.exact.arithmetic import absolute, divide, linear, subtract, times, total, where
from shaped.verify.exact.aten.reduction import vector_norm
from shaped.verify.exact.aten.registry import rule
from shaped.verify.exact.branches import compare
from shaped.verify.exact.functions import constant_power
from shaped.verify.exact.value import Value, lift


def _differences(first: Any, second: Any) -> Value:
    rows = lift(first).move(lambda one: one.unsqueeze(-2))
    columns = lift(second).move(lambda one: one.unsqueeze(-3))
    return subtract(rows, columns)


@rule("_cdist_forward")
def _cdist_forward(first: Any, second: Any, p: float, mode: int | None = None) -> Value:
    return vector_norm(_differences(first, second), p, [-1])


def _norm_slope(difference: Value, norm: Value, p: float) -> Value:
    """The derivative of a norm by the entries of its argument, 0 where the norm is 0."""
    sign = lift(torch.sign(difference.shadow))
    if p == 1:
        return sign
    if math.isinf(p):
        return where(compare(torch.eq, absolute(difference), norm), sign, 0)
    if p == 0:
        return times(sign, 0)
    size = constant_power(absolute(difference), p - 2) if p != 2 else lift(1)
    slope = divide(times(difference, size), constant_power(norm, p - 1))
    return where(compare(torch.eq, norm, 0), 0, slope)


@rule("_cdist_backward")
def _cdist_backward(upstream: Value, first: Value, second: Value, p: float, distance: Value) -> Value:
    norm = distance.move(lambda one: one.unsqueeze(-1))
    slope = _norm_slope(_differences(first, second), norm, p)
    return total(times(upstream.move(lambda one: one.unsqueeze(-1)), slope), [-2])


@rule("_trilinear")
def _trilinear(
    first: Any, second: Any, third: Any, expand1: Any, expand2: Any, expand3: Any, sums: Any, unroll: int = 1
) -> Value:
    def expanded(value: Any, dims: Any) -> Value:
        result = lift(value)
        for dim in sorted(dims):
            result = result.move(lambda one, dim=dim: one.unsqueeze(dim))  # type: ignore[misc]  # bound now
        return result

    product = times(times(expanded(first, expand1), expanded(second, expand2)), expanded(third, expand3))
    return total(product, list(sums)) if sums else product


@rule("_pdist_forward")
def _pdist_forward(value: Value, p: float = 2.0) -> Value:
    first, second = torch.triu_indices(value.shape[0], value.shape[0], 1)
    return vector_norm(subtract(value.move(lambda one: one[first]), value.move(lambda one: one[second])), p, [-1])


@rule("_pdist_backward")
def _pdist_backward(upstream: Value, value: Value, p: float, distance: Value) -> Value:
    first, second = torch.triu_indices(value.shape[0], value.shape[0], 1)
    difference = subtract(value.move(lambda one: one[first]), value.move(lambda one: one[second]))
    slope = _norm_slope(difference, distance.move(lambda one: one.unsqueeze(-1)), p)
    each = times(upstream.move(lambda one: one.unsqueeze(-1)), slope)

    def place(one: torch.Tensor) -> torch.Tensor:
        return one.new_zeros(value.shape).index_add(0, first, one).index_add(0, second, -one)

    return linear(place, each)
