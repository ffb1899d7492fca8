"""Values multiplied into a tensor at indices: a repeated index has the product of the others as its slope.

Kind: duplicate-index. Effect of the wrong form: silent.
Source: https://github.com/tracel-ai/burn/pull/4909
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def forward(x: Float[Tensor, "n"], idx: Int[Tensor, "2"], v: Float[Tensor, "2"]) -> Float[Tensor, "n"]:
    return torch.scatter_reduce(x, 0, idx, v, reduce="prod")


def wrong_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], idx: Int[Tensor, "2"], v: Float[Tensor, "2"]
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, "2"]]:
    dx = grad.clone()
    dx[idx] = grad[idx] * v
    return dx, None, grad[idx] * x[idx]  # BUG


def right_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], idx: Int[Tensor, "2"], v: Float[Tensor, "2"]
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, "2"]]:
    factor = torch.ones_like(x)
    for j in range(2):
        factor[idx[j]] = factor[idx[j]] * v[j]
    other = torch.where(idx[0] == idx[1], v.flip(0), torch.ones_like(v))
    return grad * factor, None, grad[idx] * x[idx] * other
