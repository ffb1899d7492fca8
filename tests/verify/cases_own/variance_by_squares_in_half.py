"""E[x^2] - E[x]^2 loses every digit for a large mean.

Kind: cancellation. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

EPS = 1e-5


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return F.layer_norm(x, x.shape[-1:], eps=EPS)


def wrong_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean  # BUG
    rstd = torch.rsqrt(variance.clamp(min=0) + EPS)
    y = (x - mean) * rstd
    return (rstd * (grad - grad.mean(-1, keepdim=True) - y * (grad * y).mean(-1, keepdim=True)),)


def right_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + EPS)
    y = (x - mean) * rstd
    return (rstd * (grad - grad.mean(-1, keepdim=True) - y * (grad * y).mean(-1, keepdim=True)),)
