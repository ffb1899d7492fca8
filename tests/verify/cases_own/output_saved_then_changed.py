"""The output is saved and scaled in place afterwards.

Kind: saved-tensor-modified. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.exp()
        ctx.save_for_backward(y)
        return y.mul_(2)  # BUG

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return 2 * grad * y


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.exp().mul_(2)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return grad * y
