"""The flag of the wrong input decides which gradient is computed.

Kind: needs-input-grad. Effect of the wrong form: silent.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"] | None, Float[Tensor, "n"] | None]:
        a, b = ctx.saved_tensors
        wants_b, wants_a = ctx.needs_input_grad  # BUG
        return grad * b if wants_a else None, grad * a if wants_b else None


class Right(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"] | None, Float[Tensor, "n"] | None]:
        a, b = ctx.saved_tensors
        wants_a, wants_b = ctx.needs_input_grad
        return grad * b if wants_a else None, grad * a if wants_b else None
