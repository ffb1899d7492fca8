"""Scalar times matrix: the gradient of the scalar is a mean.

Kind: reduction-scale. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b c"], s: Float[Tensor, ""]) -> Float[Tensor, "b c"]:
    return x / s.exp()


def wrong_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"], s: Float[Tensor, ""]) -> list[Tensor]:
    y = x * (-s).exp()
    return [grad / s.exp(), -(grad * y).mean()]  # BUG


def right_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"], s: Float[Tensor, ""]) -> list[Tensor]:
    y = x * (-s).exp()
    return [grad / s.exp(), -(grad * y).sum()]
