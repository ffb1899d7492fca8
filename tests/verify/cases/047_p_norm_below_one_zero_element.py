"""047 p < 1: |0|**(p-1) is infinite and meets sign(0) == 0.

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/pull/45720 ; https://github.com/pytorch/pytorch/issues/44452
"""

import torch
from jaxtyping import Float
from torch import Tensor

P = 0.5


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return (x.abs() ** P).sum() ** (1 / P)


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    n = forward(x)
    return (grad * x.sign() * x.abs() ** (P - 1) / n ** (P - 1),)  # BUG


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    n = forward(x)
    a = torch.where(x == 0, torch.ones_like(x), x.abs())
    return (torch.where(x == 0, torch.zeros_like(x), grad * x.sign() * a ** (P - 1) / n ** (P - 1)),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([1.0, 0.0, -4.0]),)


def expected(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    n = 9.0  # (1 + 0 + 2) ** 2
    return (grad * torch.tensor([3.0, 0.0, -1.5], dtype=grad.dtype) * (n**0.5 / 3.0),)
