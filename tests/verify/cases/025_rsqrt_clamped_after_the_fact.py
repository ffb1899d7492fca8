"""025 x * min(rsqrt(sum x^2), 1/eps): the minimum repairs the value, not the slope of rsqrt(0).

Kind: singular-point. Effect of the wrong form: silent (NaN).
Source: https://github.com/keras-team/keras/issues/23075
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-3


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x * torch.rsqrt((x * x).sum()).clamp(max=1 / EPS)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    y = torch.rsqrt((x * x).sum())
    inv = y.clamp(max=1 / EPS)
    through = (y <= 1 / EPS).to(x.dtype) * -0.5 * y**3 * 2 * x  # BUG
    return (grad * inv + (grad * x).sum() * through,)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    sq = (x * x).sum()
    small = sq < EPS * EPS
    inv = torch.rsqrt(sq.clamp(min=EPS * EPS))
    return (grad * inv - torch.where(small, torch.zeros_like(x), (grad * x).sum() * inv**3 * x),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.zeros(3),)


def expected(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad / EPS,)
