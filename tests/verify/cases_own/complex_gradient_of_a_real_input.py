"""A real factor of a complex product gets a complex gradient.

Kind: complex. Effect of the wrong form: silent.
"""

from jaxtyping import Complex, Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> Complex[Tensor, "n"]:
    return x * z


def wrong_backward(
    grad: Complex[Tensor, "n"], x: Float[Tensor, "n"], z: Complex[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Complex[Tensor, "n"]]:
    return grad * z.conj(), grad * x  # BUG


def right_backward(
    grad: Complex[Tensor, "n"], x: Float[Tensor, "n"], z: Complex[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Complex[Tensor, "n"]]:
    return (grad * z.conj()).real, grad * x
