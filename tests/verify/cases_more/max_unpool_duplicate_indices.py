"""Unpooling with a repeated index: the last value is kept, but all receive the gradient.

Kind: duplicate-index. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/80204 ; https://github.com/pytorch/pytorch/issues/80827
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

LENGTH = 5


def forward(x: Float[Tensor, "k"], idx: Int[Tensor, "k"]) -> Float[Tensor, "5"]:
    out = torch.zeros(LENGTH, dtype=x.dtype)
    for j in range(x.shape[0]):
        out[idx[j]] = x[j]
    return out


def wrong_backward(
    grad: Float[Tensor, "5"], x: Float[Tensor, "k"], idx: Int[Tensor, "k"]
) -> tuple[Float[Tensor, "k"], None]:
    return grad.gather(0, idx), None  # BUG


def right_backward(
    grad: Float[Tensor, "5"], x: Float[Tensor, "k"], idx: Int[Tensor, "k"]
) -> tuple[Float[Tensor, "k"], None]:
    dx = torch.zeros_like(x)
    seen: set[int] = set()
    for j in reversed(range(len(idx))):
        place = int(idx[j])
        if place not in seen:
            seen.add(place)
            dx[j] = grad[place]
    return dx, None
