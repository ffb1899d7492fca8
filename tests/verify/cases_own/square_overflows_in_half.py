"""The square of the input is taken before the division, beyond the range of float16.

Kind: half-precision. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.reciprocal()


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (-grad * x / (x * x * x),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    y = x.reciprocal()
    return (-grad * y * y,)
