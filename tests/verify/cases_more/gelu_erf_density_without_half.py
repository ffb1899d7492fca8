"""The density of GELU's slope lacks the factor 1/2 in the exponent.

Kind: missing-factor. Effect of the wrong form: silent.
Source: https://github.com/sony/nnabla/pull/690
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    return torch.nn.functional.gelu(x)


def wrong_backward(grad: Float[Tensor, "n d"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    cdf = 0.5 * (1.0 + torch.erf(x * math.sqrt(0.5)))
    pdf = torch.exp(-x.square()) * (1 / math.sqrt(2 * math.pi))  # BUG
    return (torch.addcmul(grad * cdf, grad, x * pdf),)


def right_backward(grad: Float[Tensor, "n d"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    cdf = 0.5 * (1.0 + torch.erf(x * math.sqrt(0.5)))
    pdf = torch.exp(-0.5 * x.square()) * (1 / math.sqrt(2 * math.pi))
    return (torch.addcmul(grad * cdf, grad, x * pdf),)
