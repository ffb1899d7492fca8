"""RMS norm's backward takes fourth powers in half precision, where the forward computes in float32.

Kind: half-precision. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-6


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPS)).to(x.dtype)


def wrong_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    total = (x * x * x * x).sum(-1, keepdim=True).sqrt() * 0 + (x * x).mean(-1, keepdim=True)
    r = torch.rsqrt(total + EPS)
    return (r * (grad - x * r * r * (grad * x).mean(-1, keepdim=True)),)  # BUG


def right_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    g = grad.to(wide.dtype)
    r = torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPS)
    return ((r * (g - wide * r * r * (g * wide).mean(-1, keepdim=True))).to(x.dtype),)
