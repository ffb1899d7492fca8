"""The gradient of the modulus divides by the modulus, also at 0.

Kind: complex. Effect of the wrong form: silent (NaN).
Source: https://github.com/FluxML/Zygote.jl/issues/1472 ; https://github.com/HIPS/autograd/issues/100
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor


def forward(z: Complex[Tensor, "n"]) -> Float[Tensor, "n"]:
    return z.abs()


def wrong_backward(grad: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> tuple[Complex[Tensor, "n"]]:
    return (grad * z / z.abs(),)  # BUG


def right_backward(grad: Float[Tensor, "n"], z: Complex[Tensor, "n"]) -> tuple[Complex[Tensor, "n"]]:
    r = z.abs()
    safe = torch.where(r == 0, 1.0, r)
    return (grad * z / safe,)
