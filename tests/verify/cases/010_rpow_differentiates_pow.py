"""010 forward is base**x, backward is the derivative of x**base (NaN for negative x).

Kind: wrong-function. Effect of the wrong form: silent.
Source: https://github.com/tenstorrent/tt-metal/pull/52144
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

BASE = 2.5


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return BASE**x


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * BASE * x ** (BASE - 1),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * BASE**x * math.log(BASE),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([-1.0, 0.5, 2.0]),)
