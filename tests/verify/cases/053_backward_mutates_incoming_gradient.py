"""053 backward changes grad_output in place: the caller's gradient buffer is corrupted.

Kind: in-place. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/81417
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad.mul_(2)  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        return grad * 2


def check(fn: type[torch.autograd.Function]) -> bool:
    x = torch.ones(3, requires_grad=True)
    g = torch.ones(3)
    (dx,) = torch.autograd.grad(fn.apply(x), x, g)
    return torch.equal(dx, torch.full((3,), 2.0)) and torch.equal(g, torch.ones(3))
