"""Backwards written by hand, each of them wrong: `shaped verify examples/gradients/wrong.py` shows where."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor


def layer_norm(x: Float[Tensor, "b d"], weight: Float[Tensor, "d"]) -> Float[Tensor, "b d"]:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, eps=1e-5)


def layer_norm_backward(
    grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"], weight: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    """The small number is another one than in the forward: no tolerance of usual tests sees it."""
    scale = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-6)
    normal = (x - x.mean(-1, keepdim=True)) * scale
    inner = grad * weight
    dx = scale * (inner - inner.mean(-1, keepdim=True) - normal * (inner * normal).mean(-1, keepdim=True))
    return dx, (grad * normal).sum(0)


class Norm(torch.autograd.Function):
    """The formula is right, and NaN at zero."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
        length = (x * x).sum().sqrt()
        ctx.save_for_backward(x, length)
        return length

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, ""]) -> Float[Tensor, "n"]:
        x: Float[Tensor, "n"]
        length: Float[Tensor, ""]
        x, length = ctx.saved_tensors
        return grad * x / length


def embed(table: Float[Tensor, "v d"], tokens: Int[Tensor, "t"]) -> Float[Tensor, "t d"]:
    return table[tokens]


def embed_backward(
    grad: Float[Tensor, "t d"], table: Float[Tensor, "v d"], tokens: Int[Tensor, "t"]
) -> tuple[Float[Tensor, "v d"], None]:
    """Of a token that occurs twice, only the last gradient is kept."""
    found = torch.zeros_like(table)
    found[tokens] = grad
    return found, None


class Double(torch.autograd.Function):
    """Writes into the gradient that it was given, which belongs to the caller."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad.mul_(2)
