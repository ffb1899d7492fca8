"""The distance of a point to itself is 0, and its gradient 0 / 0.

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/37154
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    return torch.cdist(x, x)


def wrong_backward(grad: Float[Tensor, "n n"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    d = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    w = (grad + grad.T) / d  # BUG
    return (w.sum(1, keepdim=True) * x - w @ x,)


def right_backward(grad: Float[Tensor, "n n"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    difference = x[:, None] - x[None]
    d = difference.square().sum(-1).sqrt()
    w = torch.where(d > 0, (grad + grad.T) / d.masked_fill(d == 0, 1.0), 0.0)
    return (torch.einsum("ij,ijk->ik", w, difference),)
