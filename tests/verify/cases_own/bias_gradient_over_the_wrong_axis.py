"""The gradient of a bias summed over features instead of the batch; shapes agree for squares.

Kind: wrong-axis. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n n"], bias: Float[Tensor, "n"]) -> Float[Tensor, "n n"]:
    return x + bias


def wrong_backward(
    grad: Float[Tensor, "n n"], x: Float[Tensor, "n n"], bias: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n"]]:
    return grad, grad.sum(1)  # BUG


def right_backward(
    grad: Float[Tensor, "n n"], x: Float[Tensor, "n n"], bias: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n"]]:
    return grad, grad.sum(0)
