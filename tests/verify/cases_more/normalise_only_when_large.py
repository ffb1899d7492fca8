"""Clipping by norm: the backward of the clipped case lacks the term through the norm.

Kind: missing-term. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

MOST = 1.0


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        length = x.norm()
        ctx.save_for_backward(x, length)
        return x / length if length > MOST else x.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        _, length = ctx.saved_tensors
        if length <= MOST:
            return grad
        return grad / length  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        length = x.norm()
        ctx.save_for_backward(x, length)
        return x / length if length > MOST else x.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        x, length = ctx.saved_tensors
        if length <= MOST:
            return grad
        unit = x / length
        return (grad - unit * (unit * grad).sum()) / length
