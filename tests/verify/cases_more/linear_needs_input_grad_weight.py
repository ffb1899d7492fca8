"""The three-way linear of the tutorials: the weight gradient has its factors exchanged.

Kind: missing-transpose. Effect of the wrong form: silent.
Source: https://github.com/torch/nn/issues/1269
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Float[Tensor, "n n"], w: Float[Tensor, "n n"], b: Float[Tensor, "n"]
    ) -> Float[Tensor, "n n"]:
        ctx.save_for_backward(x, w)
        return x.mm(w.t()) + b.unsqueeze(0).expand(x.shape[0], -1)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n n"]) -> tuple[Any, ...]:
        x, w = ctx.saved_tensors
        dx = dw = db = None
        if ctx.needs_input_grad[0]:
            dx = grad.mm(w)
        if ctx.needs_input_grad[1]:
            dw = x.t().mm(grad)  # BUG
        if ctx.needs_input_grad[2]:
            db = grad.sum(0)
        return dx, dw, db


class Right(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Float[Tensor, "n n"], w: Float[Tensor, "n n"], b: Float[Tensor, "n"]
    ) -> Float[Tensor, "n n"]:
        ctx.save_for_backward(x, w)
        return x.mm(w.t()) + b.unsqueeze(0).expand(x.shape[0], -1)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "n n"]) -> tuple[Any, ...]:
        x, w = ctx.saved_tensors
        dx = dw = db = None
        if ctx.needs_input_grad[0]:
            dx = grad.mm(w)
        if ctx.needs_input_grad[1]:
            dw = grad.t().mm(x)
        if ctx.needs_input_grad[2]:
            db = grad.sum(0)
        return dx, dw, db
