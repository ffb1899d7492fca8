"""A recomputation in the backward detaches the gate, so that its gradient is lost.

Kind: detach. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b d"], w: Float[Tensor, "d"]) -> Float[Tensor, "b d"]:
    return x * torch.sigmoid(x * w)


def wrong_backward(
    grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"], w: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    with torch.enable_grad():
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = x * torch.sigmoid(x * w).detach()  # BUG
        dx, dw = torch.autograd.grad(y, (x, w), grad, allow_unused=True, materialize_grads=True)
    return dx, dw


def right_backward(
    grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"], w: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "d"]]:
    with torch.enable_grad():
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        dx, dw = torch.autograd.grad(x * torch.sigmoid(x * w), (x, w), grad)
    return dx, dw
