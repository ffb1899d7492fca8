"""051 backward uses an intermediate stored on ctx; first order is right, second order silently ignores it.

Kind: double-backward. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/76185 ; https://github.com/pytorch/pytorch/issues/104040
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        t = x * x
        ctx.save_for_backward(x, t)
        return t * x

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        _, t = ctx.saved_tensors
        return grad * 3 * t  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def check(fn: type[torch.autograd.Function]) -> bool:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(fn.apply(x).sum(), x, create_graph=True)
    assert torch.allclose(g, 3 * x * x)  # first order is fine in both
    loss = (g * g).sum() + 0 * x.sum()
    (h,) = torch.autograd.grad(loss, x)
    return torch.allclose(h, 36 * x.detach() ** 3)
