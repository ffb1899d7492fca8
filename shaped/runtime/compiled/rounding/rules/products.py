"""Products of matrices, and convolutions (section 3.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from shaped.runtime.compiled.rounding.bounded import Bounded, add, mul, number
from shaped.runtime.compiled.rounding.formats import Format
from shaped.runtime.compiled.rounding.rules.table import rule
from shaped.runtime.compiled.rounding.sums import bilinear, matmul, total


@rule("mm", "bmm", "mv", "dot", "vdot")
def product(to: Format, self: Bounded, other: Bounded) -> Bounded:
    return matmul(self, other, to)


@rule("addmm", "addmv", "baddbmm")
def product_added(
    to: Format, self: Bounded, left: Bounded, right: Bounded, beta: float = 1, alpha: float = 1
) -> Bounded:
    summed = mul(matmul(left, right, to), alpha, to)
    return summed if beta == 0 else add(summed, mul(self, beta, to), to)


@rule("addbmm")
def products_added(
    to: Format, self: Bounded, left: Bounded, right: Bounded, beta: float = 1, alpha: float = 1
) -> Bounded:
    summed = mul(total(matmul(left, right, to), to, 0), alpha, to)
    return summed if beta == 0 else add(summed, mul(self, beta, to), to)


@rule("addr", "ger", "outer")
def outer(to: Format, self: Bounded, *vectors: Bounded, beta: float = 1, alpha: float = 1) -> Bounded:
    (left, right) = vectors if len(vectors) == 2 else (self, *vectors)
    column = Bounded(left.value[:, None], left.bound[:, None], left.format)
    row = Bounded(right.value[None, :], right.bound[None, :], right.format)
    made = mul(column, row, to)
    return made if len(vectors) == 1 else add(mul(self, beta, to), mul(made, alpha, to), to)


@rule("convolution", "_convolution")
def convolution(
    to: Format,
    input: Bounded,  # noqa: A002  # torch's name, as all below
    weight: Bounded,
    bias: Bounded | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *flags: bool,
) -> Bounded:
    def function(x: Tensor, w: Tensor) -> Tensor:
        return torch.convolution(x, w, None, stride, padding, dilation, transposed, output_padding, groups)

    shape = weight.value.shape
    count = math.prod(shape[2:]) * (shape[0] // groups if transposed else shape[1])
    summed = bilinear(function, input, weight, count, to)
    if bias is None:
        return summed
    axes = (-1, *(1,) * (len(shape) - 2))
    return add(summed, Bounded(bias.value.reshape(axes), bias.bound.reshape(axes), bias.format), to)


@rule("convolution_backward")
def convolution_backward(
    to: Format,
    grad_output: Bounded,
    input: Bounded,  # noqa: A002
    weight: Bounded,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Bounded | None, Bounded | None, Bounded | None]:
    shape, signal = weight.value.shape, len(weight.value.shape) - 2

    def backward(gradient: Tensor, x: Tensor, w: Tensor, which: int) -> Tensor:
        mask = [place == which for place in range(3)]
        made: Tensor = torch.ops.aten.convolution_backward(
            gradient, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask
        )[which]
        return made

    found: list[Bounded | None] = [None, None, None]
    if output_mask[0]:
        count = math.prod(shape[2:]) * (shape[1] if transposed else shape[0] // groups)
        found[0] = bilinear(lambda g, w: backward(g, input.value, w, 0), grad_output, weight, count, to)
    # The weight meets each place once, of the smaller of what comes in and what goes out.
    places = grad_output.value if not transposed else input.value
    count = places.shape[0] * math.prod(places.shape[2:])
    if output_mask[1]:
        found[1] = bilinear(lambda g, x: backward(g, x, weight.value, 1), grad_output, input, count, to)
    if output_mask[2]:
        found[2] = total(number(grad_output, to), to, [0, *range(2, 2 + signal)])
    return found[0], found[1], found[2]
