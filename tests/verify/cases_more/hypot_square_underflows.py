"""hypot is computed without squares; its backward squares, and 0 / 0 for tiny inputs.

Kind: underflow. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/96543
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.hypot(x, y)


def wrong_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    r = torch.sqrt(x * x + y * y)
    return grad * x / r, grad * y / r  # BUG


def right_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    r = torch.hypot(x, y)
    safe = torch.where(r > 0, r, torch.ones_like(r))
    return grad * (x / safe), grad * (y / safe)
