"""050 pullback of a complex bilinear product multiplies by b instead of conj(b).

Kind: complex. Effect of the wrong form: silent.
Source: https://github.com/FluxML/Zygote.jl/issues/151 ; https://github.com/pytorch/pytorch/issues/60180
"""

import torch
from jaxtyping import Complex
from torch import Tensor


def forward(a: Complex[Tensor, "n"], b: Complex[Tensor, "n"]) -> Complex[Tensor, "n"]:
    return a * b


def wrong_backward(
    grad: Complex[Tensor, "n"], a: Complex[Tensor, "n"], b: Complex[Tensor, "n"]
) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
    return grad * b, grad * a  # BUG


def right_backward(
    grad: Complex[Tensor, "n"], a: Complex[Tensor, "n"], b: Complex[Tensor, "n"]
) -> tuple[Complex[Tensor, "n"], Complex[Tensor, "n"]]:
    return grad * b.conj(), grad * a.conj()


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(3, dtype=torch.complex128), torch.randn(3, dtype=torch.complex128)


REFERENCE = "autograd"  # convention: torch's conjugate Wirtinger gradient
