"""032 d/dy x**y = x**y * log(x): 0 * -inf at x == 0.

Kind: division-by-zero-input. Effect of the wrong form: silent (NaN).
Source: https://github.com/tinygrad/tinygrad/issues/155
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x**y


def wrong_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return grad * y * x ** (y - 1), grad * x**y * torch.log(x)  # BUG


def right_backward(
    grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    log = torch.log(torch.where(x > 0, x, torch.ones_like(x)))
    return grad * y * x ** (y - 1), grad * x**y * log


def inputs() -> tuple[Tensor, ...]:
    return torch.tensor([0.0, 2.0]), torch.tensor([2.0, 3.0])
