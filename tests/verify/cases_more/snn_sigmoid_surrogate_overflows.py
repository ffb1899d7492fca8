"""The slope of a steep sigmoid is written with exp(-25 x), which overflows: inf / inf.

Kind: overflow. Effect of the wrong form: silent (NaN).
Source: https://github.com/jeshraghian/snntorch/pull/433
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

SLOPE = 25.0


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        ctx.slope = SLOPE
        return torch.sigmoid(SLOPE * x)

    @staticmethod
    def backward(ctx: Any, grad_output: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        e = torch.exp(-ctx.slope * x)
        return grad_input * ctx.slope * e / ((e + 1) ** 2)  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(x)
        ctx.slope = SLOPE
        return torch.sigmoid(SLOPE * x)

    @staticmethod
    def backward(ctx: Any, grad_output: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.slope * x)
        return grad_output * ctx.slope * s * (1.0 - s)
