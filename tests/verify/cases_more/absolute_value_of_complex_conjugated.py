"""The gradient of |z| points to the conjugate of z.

Kind: complex. Effect of the wrong form: silent.
Source: https://github.com/HIPS/autograd/pull/393
"""

from jaxtyping import Complex, Float
from torch import Tensor


def forward(z: Complex[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return z.abs()


def wrong_backward(g: Float[Tensor, "b n"], z: Complex[Tensor, "b n"]) -> Complex[Tensor, "b n"]:
    return g * z.conj().sgn()  # BUG


def right_backward(g: Float[Tensor, "b n"], z: Complex[Tensor, "b n"]) -> Complex[Tensor, "b n"]:
    return g * z.sgn()
