"""Greatest values with their indices, which are marked as not differentiable: the gradient goes to the first entry.

Kind: indexing. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b"], Int[Tensor, "b"]]:
        values, indices = x.max(dim=1)
        ctx.save_for_backward(indices)
        ctx.mark_non_differentiable(indices)
        ctx.shape = x.shape
        return values, indices

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "b"], _: Any) -> Float[Tensor, "b n"]:
        dx = grad.new_zeros(ctx.shape)
        dx[:, 0] = grad  # BUG
        return dx


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b"], Int[Tensor, "b"]]:
        values, indices = x.max(dim=1)
        ctx.save_for_backward(indices)
        ctx.mark_non_differentiable(indices)
        ctx.shape = x.shape
        return values, indices

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "b"], _: Any) -> Float[Tensor, "b n"]:
        (indices,) = ctx.saved_tensors
        return grad.new_zeros(ctx.shape).scatter(1, indices[:, None], grad[:, None])
