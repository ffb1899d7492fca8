"""The gradient of one of two outputs is dropped.

Kind: missing-term. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b"], Float[Tensor, "b n"]]:
        ctx.save_for_backward(x)
        return (x * x).sum(-1), x.exp()

    @staticmethod
    def backward(ctx: Any, square: Float[Tensor, "b"], exponential: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
        (x,) = ctx.saved_tensors
        return 2 * square[:, None] * x  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b"], Float[Tensor, "b n"]]:
        ctx.save_for_backward(x)
        return (x * x).sum(-1), x.exp()

    @staticmethod
    def backward(ctx: Any, square: Float[Tensor, "b"], exponential: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
        (x,) = ctx.saved_tensors
        return 2 * square[:, None] * x + exponential * x.exp()
