"""024 standard deviation of identical values: division by zero.

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/4320
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return x.std()


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * (x - x.mean()) / ((x.numel() - 1) * x.std()),)  # BUG


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    s = x.std()
    safe = torch.where(s == 0, torch.ones_like(s), s)
    return (torch.where(s == 0, torch.zeros_like(x), grad * (x - x.mean()) / ((x.numel() - 1) * safe)),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.ones(5),)


def expected(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (torch.zeros_like(x),)
