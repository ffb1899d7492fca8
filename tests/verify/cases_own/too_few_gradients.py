"""One gradient for two inputs.

Kind: wrong-number-of-gradients. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return a * b


def wrong_backward(grad: Float[Tensor, "n"], a: Float[Tensor, "n"], b: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * b,)  # BUG


def right_backward(
    grad: Float[Tensor, "n"], a: Float[Tensor, "n"], b: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return grad * b, grad * a
