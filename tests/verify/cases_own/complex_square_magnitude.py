"""The gradient of |z|^2 by z with the conjugate in the wrong place.

Kind: complex. Effect of the wrong form: silent.
"""

from jaxtyping import Complex, Float
from torch import Tensor


def forward(z: Complex[Tensor, "n"]) -> Float[Tensor, "n"]:
    return z.real**2 + z.imag**2


def wrong_backward(grad: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> tuple[Complex[Tensor, "n"]]:
    return (2 * grad * z.conj(),)  # BUG


def right_backward(grad: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> tuple[Complex[Tensor, "n"]]:
    return (2 * grad * z,)
