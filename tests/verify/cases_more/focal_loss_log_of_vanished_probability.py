"""Focal loss: the slope of log p divides by a probability that is 0 in floats.

Kind: overflow. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor

GAMMA = 2.0


def forward(z: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    p = torch.sigmoid(z)
    return -((1 - p) ** GAMMA) * torch.nn.functional.logsigmoid(z)


def wrong_backward(grad: Float[Tensor, "n"], z: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    p = torch.sigmoid(z)
    q = 1 - p
    dp = GAMMA * q ** (GAMMA - 1) * torch.log(p) - q**GAMMA / p  # BUG
    return (grad * dp * p * q,)


def right_backward(grad: Float[Tensor, "n"], z: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    p, q = torch.sigmoid(z), torch.sigmoid(-z)
    log_p = torch.nn.functional.logsigmoid(z)
    return (grad * (GAMMA * q**GAMMA * p * log_p - q ** (GAMMA + 1)),)
