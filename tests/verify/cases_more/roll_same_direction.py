"""The gradient of a rotation is rotated on, not back.

Kind: sign. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return torch.roll(x, 1, dims=1)


def wrong_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (torch.roll(grad, 1, dims=1),)  # BUG


def right_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (torch.roll(grad, -1, dims=1),)
