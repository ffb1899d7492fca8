"""004 sigmoid backward written in terms of the output but fed the saved input.

Kind: input-vs-output. Effect of the wrong form: silent.
Source: https://github.com/BoltzmannEntropy/interviews.ai/issues/15
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return torch.sigmoid(x)


def wrong_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    return (grad * x * (1 - x),)  # BUG


def right_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    y = torch.sigmoid(x)
    return (grad * y * (1 - y),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(5),)
