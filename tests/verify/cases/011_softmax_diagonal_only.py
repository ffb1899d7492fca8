"""011 softmax backward keeps only y*(1-y), the i != j terms are missing.

Kind: jacobian-off-diagonal. Effect of the wrong form: silent.
Source: https://github.com/deeplearning4j/libnd4j/issues/440
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b c"]) -> Float[Tensor, "b c"]:
    return x.softmax(dim=-1)


def wrong_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"]) -> tuple[Float[Tensor, "b c"]]:
    y = forward(x)
    return (grad * y * (1 - y),)  # BUG


def right_backward(grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"]) -> tuple[Float[Tensor, "b c"]]:
    y = forward(x)
    return (y * (grad - (grad * y).sum(-1, keepdim=True)),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(2, 4),)
