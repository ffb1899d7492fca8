"""ELU's slope below 0 is y + alpha; the backward adds 1.

Kind: input-vs-output. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

ALPHA = 1.5


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = torch.where(x > 0, x, ALPHA * torch.expm1(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, grad, grad * (y + 1))  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = torch.where(x > 0, x, ALPHA * torch.expm1(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return torch.where(y > 0, grad, grad * (y + ALPHA))
