"""Batch norm: the gradient through the variance is there, the one through the mean is not; setup_context style.

Kind: missing-term. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-5


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(x: Float[Tensor, "b c"], w: Float[Tensor, "c"], b: Float[Tensor, "c"]) -> Float[Tensor, "b c"]:
        mean, var = x.mean(0), x.var(0, unbiased=False)
        return (x - mean) * torch.rsqrt(var + EPS) * w + b

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        x, w, _ = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "b c"]) -> tuple[Tensor, Tensor, Tensor]:
        x, w = ctx.saved_tensors
        rstd = torch.rsqrt(x.var(0, unbiased=False) + EPS)
        xhat = (x - x.mean(0)) * rstd
        g = grad * w
        dx = rstd * (g - xhat * (g * xhat).mean(0))  # BUG
        return dx, (grad * xhat).sum(0), grad.sum(0)


class Right(torch.autograd.Function):
    @staticmethod
    def forward(x: Float[Tensor, "b c"], w: Float[Tensor, "c"], b: Float[Tensor, "c"]) -> Float[Tensor, "b c"]:
        mean, var = x.mean(0), x.var(0, unbiased=False)
        return (x - mean) * torch.rsqrt(var + EPS) * w + b

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        x, w, _ = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "b c"]) -> tuple[Tensor, Tensor, Tensor]:
        x, w = ctx.saved_tensors
        rstd = torch.rsqrt(x.var(0, unbiased=False) + EPS)
        xhat = (x - x.mean(0)) * rstd
        g = grad * w
        dx = rstd * (g - g.mean(0) - xhat * (g * xhat).mean(0))
        return dx, (grad * xhat).sum(0), grad.sum(0)
