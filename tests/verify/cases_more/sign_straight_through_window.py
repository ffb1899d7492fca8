"""A binariser with a window of |x| <= 1: the window is tested on the output.

Kind: straight-through. Effect of the wrong form: silent.
Source: https://github.com/jiecaoyu/XNOR-Net-PyTorch/issues/125
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def surrogate(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.nn.functional.hardtanh(x)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        y = x.sign()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (y,) = ctx.saved_tensors
        return grad.masked_fill(y.abs() > 1, 0)  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad.masked_fill(x.abs() > 1, 0)
