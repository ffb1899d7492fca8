"""x**p differentiated as p*y/x.

Kind: division-by-zero-input. Effect of the wrong form: silent (NaN).
"""

from jaxtyping import Float
from torch import Tensor

P = 3.0


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x**P


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * P * x**P / x,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * P * x ** (P - 1),)
