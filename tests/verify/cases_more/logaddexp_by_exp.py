"""The weights of logaddexp are exp(a) / (exp(a) + exp(b)), which is inf / inf.

Kind: overflow. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/49724
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.logaddexp(a, b)


def wrong_backward(
    grad: Float[Tensor, "n"], a: Float[Tensor, "n"], b: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    ea, eb = a.exp(), b.exp()
    total = ea + eb
    return grad * ea / total, grad * eb / total  # BUG


def right_backward(
    grad: Float[Tensor, "n"], a: Float[Tensor, "n"], b: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    gap = torch.where(a == b, torch.zeros_like(a), a - b)
    impossible = torch.isneginf(a) & torch.isneginf(b)
    first = torch.sigmoid(gap)
    return (grad * first).masked_fill(impossible, 0), (grad * torch.sigmoid(-gap)).masked_fill(impossible, 0)
