"""The backward builds its result in the saved output.

Kind: saved-tensor-modified. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.tanh()
        ctx.y = y.clone()
        return y

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return ctx.y.mul_(ctx.y).neg_().add_(1).mul_(grad)  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return grad * (1 - y * y)
