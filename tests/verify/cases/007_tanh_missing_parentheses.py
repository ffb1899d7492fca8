"""007 grad * 1 - y*y where grad * (1 - y*y) was meant; tests used an all-ones gradient.

Kind: precedence. Effect of the wrong form: silent.
Source: https://github.com/apache/tvm/pull/7340
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return torch.tanh(x)


def wrong_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    y = torch.tanh(x)
    return (grad * torch.ones_like(y) - y * y,)  # BUG


def right_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    y = torch.tanh(x)
    return (grad * (torch.ones_like(y) - y * y),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(5),)
