"""Suffix sums: the gradient is a prefix sum, shifted by one.

Kind: indexing. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return torch.flip(torch.cumsum(torch.flip(x, [1]), 1), [1])


def wrong_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad.cumsum(1) - grad,)  # BUG


def right_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad.cumsum(1),)
