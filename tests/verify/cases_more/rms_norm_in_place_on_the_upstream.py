"""RMSNorm's input gradient is written into the buffer of the incoming gradient.

Kind: in-place. Effect of the wrong form: silent.
Source: https://github.com/linkedin/Liger-Kernel/pull/1305
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-6


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)


def wrong_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    r = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
    inner = (grad * x).mean(-1, keepdim=True)
    grad -= x * r.square() * inner  # BUG
    grad *= r
    return (grad,)


def right_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    r = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
    inner = (grad * x).mean(-1, keepdim=True)
    dx = grad - x * r.square() * inner
    dx *= r
    return (dx,)
