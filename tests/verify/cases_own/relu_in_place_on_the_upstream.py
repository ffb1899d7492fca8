"""ReLU masks the gradient that it was handed.

Kind: in-place. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.clamp(min=0)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    grad[x <= 0] = 0  # BUG
    return (grad,)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * (x > 0),)
