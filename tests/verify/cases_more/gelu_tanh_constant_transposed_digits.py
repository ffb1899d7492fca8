"""The cubic coefficient of the tanh form of GELU: 0.044751 in place of 0.044715 in the backward.

Kind: constant. Effect of the wrong form: silent.
Source: https://github.com/neoml-lib/neoml/pull/787
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

K = math.sqrt(2 / math.pi)


def forward(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return F.gelu(x, approximate="tanh")


def _slope(x: Tensor, c: float) -> Tensor:
    t = torch.tanh(K * (x + c * x * x * x))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * K * (1 + 3 * c * x * x)


def wrong_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    return (grad * _slope(x, 0.044751),)  # BUG


def right_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    return (grad * _slope(x, 0.044715),)
