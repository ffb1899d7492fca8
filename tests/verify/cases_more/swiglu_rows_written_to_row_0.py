"""Every row's gradient is written to row 0 of the result.

Kind: indexing. Effect of the wrong form: silent.
Source: https://github.com/ByteDance-Seed/Triton-distributed/pull/185
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b 2*h"]) -> Float[Tensor, "b h"]:
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def _rows(grad: Tensor, x: Tensor, step: int) -> Tensor:
    out = torch.zeros_like(x)
    h = grad.shape[1]
    for row in range(x.shape[0]):
        gate, up = x[row, :h], x[row, h:]
        s = torch.sigmoid(gate)
        out[row * step, :h] += grad[row] * up * s * (1 + gate * (1 - s))
        out[row * step, h:] += grad[row] * gate * s
    return out


def wrong_backward(grad: Float[Tensor, "b h"], x: Float[Tensor, "b 2*h"]) -> tuple[Float[Tensor, "b 2*h"]]:
    return (_rows(grad, x, 0),)  # BUG


def right_backward(grad: Float[Tensor, "b h"], x: Float[Tensor, "b 2*h"]) -> tuple[Float[Tensor, "b 2*h"]]:
    return (_rows(grad, x, 1),)
