"""The distance of two equal vectors: 0 / 0.

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/PaddlePaddle/Paddle/pull/32448
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return (x - y).norm()


def wrong_backward(
    grad: Float[Tensor, ""], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    d = x - y
    dx = grad * d / d.norm()  # BUG
    return dx, -dx


def right_backward(
    grad: Float[Tensor, ""], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    d = x - y
    length = d.norm()
    dx = (grad * d / length).masked_fill(length == 0, 0.0)
    return dx, dx.neg()
