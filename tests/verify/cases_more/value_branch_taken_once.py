"""A branch on the sum of the input: one of the two arms has the wrong slope.

Kind: branch-on-value. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        if x.sum() > 0:
            return x * x
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad * 2 * x  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        if x.sum() > 0:
            return x * x
        return x * 3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad * 2 * x if x.sum() > 0 else grad * 3
