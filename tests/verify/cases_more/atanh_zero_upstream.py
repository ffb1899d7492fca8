"""Every zero of the incoming gradient is made NaN, meant for the poles alone.

Kind: wrong-condition. Effect of the wrong form: silent (NaN).
Source: https://github.com/tenstorrent/tt-metal/issues/55290
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.atanh(x.clamp(-0.875, 0.875))


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    inside = (x.abs() <= 0.875).to(x.dtype)
    g = grad * inside / (1 - x.clamp(-0.875, 0.875) ** 2)
    g = torch.where(grad == 0, torch.full_like(g, float("nan")), g)  # BUG
    return (g,)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    inside = (x.abs() <= 0.875).to(x.dtype)
    return (grad * inside / (1 - x.clamp(-0.875, 0.875) ** 2),)
