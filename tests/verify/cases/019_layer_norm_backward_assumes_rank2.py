"""019 backward derives (M, N) from shape[0], so a (b, t, d) input is normalised over t*d.

Kind: shape-assumption. Effect of the wrong form: silent.
Source: https://github.com/flagos-ai/FlagGems/issues/5392
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

EPS = 1e-5


def forward(x: Float[Tensor, "b t d"]) -> Float[Tensor, "b t d"]:
    return F.layer_norm(x, x.shape[-1:], eps=EPS)


def _bwd(grad: Float[Tensor, "m n"], x: Float[Tensor, "m n"]) -> Float[Tensor, "m n"]:
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + EPS)
    xh = (x - x.mean(-1, keepdim=True)) * rstd
    return rstd * (grad - grad.mean(-1, keepdim=True) - xh * (grad * xh).mean(-1, keepdim=True))


def wrong_backward(grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"]) -> tuple[Float[Tensor, "b t d"]]:
    m = x.shape[0]  # BUG
    n = x.numel() // m
    return (_bwd(grad.reshape(m, n), x.reshape(m, n)).view_as(x),)


def right_backward(grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"]) -> tuple[Float[Tensor, "b t d"]]:
    n = x.shape[-1]
    m = x.numel() // n
    return (_bwd(grad.reshape(m, n), x.reshape(m, n)).view_as(x),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(2, 3, 4),)
