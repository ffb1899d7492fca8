"""The gradient is kept in the memory of the logits, which others still use.

Kind: in-place. Effect of the wrong form: silent.
Source: https://github.com/linkedin/Liger-Kernel/issues/272 ; https://github.com/linkedin/Liger-Kernel/issues/343
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
        loss = F.cross_entropy(z, y)
        z.data.copy_((z.softmax(1) - F.one_hot(y, z.shape[1])) / z.shape[0])  # BUG
        ctx.save_for_backward(z)
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, ""]) -> tuple[Tensor, None]:
        (dz,) = ctx.saved_tensors
        return dz * grad, None


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
        loss = F.cross_entropy(z, y)
        ctx.save_for_backward((z.softmax(1) - F.one_hot(y, z.shape[1])) / z.shape[0])
        return loss

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Float[Tensor, ""]) -> tuple[Tensor, None]:
        (dz,) = ctx.saved_tensors
        return dz * grad, None
