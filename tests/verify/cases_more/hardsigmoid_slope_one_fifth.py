"""The slope of hardsigmoid is 1/6, not Keras' 0.2.

Kind: constant. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.nn.functional.hardsigmoid(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    inside = (x > -3) & (x < 3)
    return (torch.where(inside, 0.2 * grad, 0.0),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    inside = (x > -3) & (x < 3)
    return (torch.where(inside, grad / 6, 0.0),)
