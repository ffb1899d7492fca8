"""038 put/scatter with repeated indices: overwritten sources still receive the gradient.

Kind: duplicate-index. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/146299
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def forward(base: Float[Tensor, "n"], idx: Int[Tensor, "k"], src: Float[Tensor, "k"]) -> Float[Tensor, "n"]:
    out = base.clone()
    for j in range(idx.numel()):  # the last write wins
        out[idx[j]] = src[j]
    return out


def _base_grad(grad: Float[Tensor, "n"], idx: Int[Tensor, "k"]) -> Float[Tensor, "n"]:
    g = grad.clone()
    g[idx] = 0
    return g


def wrong_backward(
    grad: Float[Tensor, "n"], base: Float[Tensor, "n"], idx: Int[Tensor, "k"], src: Float[Tensor, "k"]
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, "k"]]:
    return _base_grad(grad, idx), None, grad[idx]  # BUG


def right_backward(
    grad: Float[Tensor, "n"], base: Float[Tensor, "n"], idx: Int[Tensor, "k"], src: Float[Tensor, "k"]
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, "k"]]:
    d = torch.zeros_like(src)
    winner = {int(i): j for j, i in enumerate(idx)}
    for i, j in winner.items():
        d[j] = grad[i]
    return _base_grad(grad, idx), None, d


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(4), torch.tensor([1, 3, 1]), torch.randn(3)
