"""2**y is computed as exp(y) * ln 2, and the incoming gradient is not used.

Kind: wrong-function. Effect of the wrong form: silent.
Source: https://github.com/tenstorrent/tt-metal/issues/6533
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.ldexp(x, y)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> list[Float[Tensor, "n"]]:
    power = torch.exp(y) * math.log(2)
    return [power, x * power * math.log(2)]  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"], y: Float[Tensor, "n"]) -> list[Float[Tensor, "n"]]:
    power = torch.exp2(y)
    return [grad * power, grad * x * power * math.log(2)]
