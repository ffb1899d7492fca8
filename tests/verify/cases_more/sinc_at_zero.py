"""sin(x) / x with the limit at 0: the slope of the branch not taken.

Kind: where-nan. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.where(x == 0, torch.ones_like(x), torch.sin(x) / torch.where(x == 0, torch.ones_like(x), x))


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    slope = (x * torch.cos(x) - torch.sin(x)) / (x * x)
    return (grad * (x != 0) * slope,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    small = x.abs() < 1e-3
    safe = torch.where(small, torch.ones_like(x), x)
    slope = (safe * torch.cos(safe) - torch.sin(safe)) / (safe * safe)
    return (grad * torch.where(small, -x / 3 + x**3 / 30, slope),)
