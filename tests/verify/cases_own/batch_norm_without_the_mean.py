"""The variance is treated as a constant.

Kind: missing-term. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-5


def forward(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    return (x - x.mean(0)) * torch.rsqrt(x.var(0, unbiased=False) + EPS)


def wrong_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"]) -> tuple[Float[Tensor, "b c"]]:
    rstd = torch.rsqrt(x.var(0, unbiased=False) + EPS)
    return (rstd * (grad - grad.mean(0)),)  # BUG


def right_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"]) -> tuple[Float[Tensor, "b c"]]:
    rstd = torch.rsqrt(x.var(0, unbiased=False) + EPS)
    y = (x - x.mean(0)) * rstd
    return (rstd * (grad - grad.mean(0) - y * (grad * y).mean(0)),)
