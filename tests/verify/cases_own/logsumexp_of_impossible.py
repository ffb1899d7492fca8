"""All terms -inf: exp(x - y) is exp(-inf + inf).

Kind: log-domain-inf. Effect of the wrong form: silent (NaN).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.logsumexp(-1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad[:, None] * torch.exp(x - forward(x)[:, None]),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    y = forward(x)[:, None]
    return (grad[:, None] * torch.exp(x - torch.where(y == -math.inf, torch.zeros_like(y), y)),)
