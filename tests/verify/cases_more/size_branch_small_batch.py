"""The backward divides by n for a large batch alone.

Kind: shape-assumption. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n d"]) -> Float[Tensor, "d"]:
        ctx.n = x.shape[0]
        return x.mean(0)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "d"]) -> Float[Tensor, "n d"]:
        scale = 1 / ctx.n if ctx.n > 2 else 1.0  # BUG
        return (grad * scale).expand(ctx.n, -1)


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n d"]) -> Float[Tensor, "d"]:
        ctx.n = x.shape[0]
        return x.mean(0)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "d"]) -> Float[Tensor, "n d"]:
        scale = 1 / ctx.n if ctx.n > 1 else 1.0
        return (grad * scale).expand(ctx.n, -1)
