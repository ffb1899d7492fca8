"""The gradients of the gate and of the linear half are joined in the wrong order.

Kind: wrong-operand. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b d"], w: Float[Tensor, "2*h d"]) -> Float[Tensor, "b h"]:
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(gate).mul(up)


def _halves(grad: Tensor, x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    gate, up = (x @ w.mT).chunk(2, -1)
    s = gate.sigmoid()
    return grad * up * (s + gate * s * (1 - s)), grad * gate * s


def wrong_backward(
    grad: Float[Tensor, "b h"], x: Float[Tensor, "b d"], w: Float[Tensor, "2*h d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "2*h d"]]:
    d_gate, d_up = _halves(grad, x, w)
    dz = torch.cat([d_up, d_gate], dim=-1)  # BUG
    return dz @ w, dz.mT @ x


def right_backward(
    grad: Float[Tensor, "b h"], x: Float[Tensor, "b d"], w: Float[Tensor, "2*h d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "2*h d"]]:
    d_gate, d_up = _halves(grad, x, w)
    dz = torch.cat([d_gate, d_up], dim=-1)
    return dz @ w, dz.mT @ x
