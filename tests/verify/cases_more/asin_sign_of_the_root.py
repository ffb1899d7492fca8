"""The slope of arc sine is that of arc cosine, on the domain inside (-1, 1).

Kind: sign. Effect of the wrong form: silent.
Source: https://github.com/tenstorrent/tt-metal/issues/6536
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.asin(x)


def domain(x: Tensor) -> bool:
    return bool((x.abs() < 1).all())


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (-grad / torch.sqrt(1 - x * x),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * torch.rsqrt(1 - x * x),)
