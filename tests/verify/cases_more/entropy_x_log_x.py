"""x log x is 0 at 0; its slope log x + 1 is infinite, the one of the clamped logarithm is not.

Kind: singular-point. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-12


def forward(p: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return -(p * torch.log(p.clamp(min=EPS))).sum()


def wrong_backward(grad: Float[Tensor, ""], p: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (-grad * (torch.log(p) + (p >= EPS).to(p.dtype)),)  # BUG


def right_backward(grad: Float[Tensor, ""], p: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (-grad * (torch.log(p.clamp(min=EPS)) + (p >= EPS).to(p.dtype)),)
