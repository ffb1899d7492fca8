"""Quotient and logarithm from one kernel: the gradient of the second output is dropped.

Kind: missing-term. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b"]]:
        lse = torch.logsumexp(x, -1)
        p = torch.exp(x - lse[:, None])
        ctx.save_for_backward(p)
        return p, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dp: Float[Tensor, "b d"], dlse: Float[Tensor, "b"]) -> Float[Tensor, "b d"]:
        (p,) = ctx.saved_tensors
        return p * (dp - (p * dp).sum(-1, keepdim=True))  # BUG


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b"]]:
        lse = torch.logsumexp(x, -1)
        p = torch.exp(x - lse[:, None])
        ctx.save_for_backward(p)
        return p, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dp: Float[Tensor, "b d"], dlse: Float[Tensor, "b"]) -> Float[Tensor, "b d"]:
        (p,) = ctx.saved_tensors
        return p * (dp - (p * dp).sum(-1, keepdim=True) + dlse[:, None])
