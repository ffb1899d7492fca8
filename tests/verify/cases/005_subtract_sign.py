"""005 subtraction passes the same gradient to both operands.

Kind: sign. Effect of the wrong form: silent.
Source: https://github.com/KhawajaAbaid/micrograd_c/issues/1
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "*s"], b: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return a - b


def wrong_backward(
    grad: Float[Tensor, "*s"], a: Float[Tensor, "*s"], b: Float[Tensor, "*s"]
) -> tuple[Float[Tensor, "*s"], Float[Tensor, "*s"]]:
    return grad, grad  # BUG


def right_backward(
    grad: Float[Tensor, "*s"], a: Float[Tensor, "*s"], b: Float[Tensor, "*s"]
) -> tuple[Float[Tensor, "*s"], Float[Tensor, "*s"]]:
    return grad, -grad


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(4), torch.randn(4)
