"""Rules of convolutions: torch's own float64 kernels, which add exactly on limbs of residues."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from shaped.verify.exact.arithmetic import add, bilinear, total
from shaped.verify.exact.aten.registry import rule
from shaped.verify.exact.value import Value, lift

aten = torch.ops.aten


@rule("convolution", "_convolution")
def _convolution(
    value: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int, *_: Any,
) -> Value:  # fmt: skip
    data, kernel = lift(value), lift(weight)

    def convolve(one: Tensor, other: Tensor) -> Tensor:
        result: Tensor = aten.convolution(
            one, other, None, stride, padding, dilation, transposed, output_padding, groups
        )
        return result

    # Each output entry adds at most a kernel's worth of products, for each channel.
    terms = data.shape[1] * math.prod(kernel.shape[2:])
    result = bilinear(convolve, data, kernel, terms)
    if bias is None:
        return result
    return add(result, lift(bias).move(lambda one: one.reshape(-1, *[1] * (data.ndim - 2))))


@rule("convolution_backward")
def _convolution_backward(
    upstream: Value, value: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, mask: Any,
) -> tuple[Value | None, Value | None, Value | None]:  # fmt: skip
    data, kernel = lift(value), lift(weight)

    def backward(one: Tensor, data_: Tensor, kernel_: Tensor, which: int) -> Tensor:
        wanted = [k == which for k in range(3)]
        result: Tensor = aten.convolution_backward(
            one, data_, kernel_, None, stride, padding, dilation, transposed, output_padding, groups, wanted
        )[which]
        return result

    no_data, no_kernel = torch.zeros(data.shape).double(), torch.zeros(kernel.shape).double()
    data_gradient = kernel_gradient = bias_gradient = None
    if mask[0]:
        terms = upstream.shape[1] * math.prod(kernel.shape[2:])
        data_gradient = bilinear(lambda g, k: backward(g, no_data, k, 0), upstream, kernel, terms)
    if mask[1]:
        terms = upstream.shape[0] * max(math.prod(upstream.shape[2:]), math.prod(data.shape[2:]))
        kernel_gradient = bilinear(lambda g, x: backward(g, x, no_kernel, 1), upstream, data, terms)
    if mask[2]:
        bias_gradient = total(upstream, [dim for dim in range(upstream.ndim) if dim != 1])
    return data_gradient, kernel_gradient, bias_gradient
