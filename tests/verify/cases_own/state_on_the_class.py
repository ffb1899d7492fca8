"""The input is kept on the class: the next forward overwrites it.

Kind: stateful-ctx. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    kept: Tensor

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        Wrong.kept = x.detach().clone()  # BUG
        return x.sin()

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad * Wrong.kept.cos()


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad * x.cos()
