"""None where the weight has a gradient.

Kind: missing-gradient. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b i"], w: Float[Tensor, "o i"]) -> Float[Tensor, "b o"]:
    return x @ w.T


def wrong_backward(
    grad: Float[Tensor, "b o"], x: Float[Tensor, "b i"], w: Float[Tensor, "o i"]
) -> tuple[Float[Tensor, "b i"], None]:
    return grad @ w, None  # BUG


def right_backward(
    grad: Float[Tensor, "b o"], x: Float[Tensor, "b i"], w: Float[Tensor, "o i"]
) -> tuple[Float[Tensor, "b i"], Float[Tensor, "o i"]]:
    return grad @ w, grad.T @ x
