"""Linear interpolation to twice the size: the gradient of the neighbour at the border is lost.

Kind: boundary. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b 2*n"]:
    left = torch.cat([x[:, :1], x[:, :-1]], 1)
    right = torch.cat([x[:, 1:], x[:, -1:]], 1)
    return torch.stack([0.25 * left + 0.75 * x, 0.75 * x + 0.25 * right], 2).flatten(1)


def _dx(grad: Tensor, border: float) -> Tensor:
    even, odd = grad[:, 0::2], grad[:, 1::2]
    dx = 0.75 * (even + odd)
    dx = dx + 0.25 * F.pad(even[:, 1:], (0, 1)) + 0.25 * F.pad(odd[:, :-1], (1, 0))
    dx[:, 0] += border * even[:, 0]
    dx[:, -1] += border * odd[:, -1]
    return dx


def wrong_backward(grad: Float[Tensor, "b 2*n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (_dx(grad, 0.0),)  # BUG


def right_backward(grad: Float[Tensor, "b 2*n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (_dx(grad, 0.25),)
