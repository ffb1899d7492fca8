"""atan2(y, x): the slopes to y and x are exchanged.

Kind: wrong-operand. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(y: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.atan2(y, x)


def wrong_backward(
    grad: Float[Tensor, "n"], y: Float[Tensor, "n"], x: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    s = (grad / (x * x + y * y)).nan_to_num(0.0, 0.0, 0.0)
    return -y * s, x * s  # BUG


def right_backward(
    grad: Float[Tensor, "n"], y: Float[Tensor, "n"], x: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    s = (grad / (x * x + y * y)).nan_to_num(0.0, 0.0, 0.0)
    return x * s, -y * s
