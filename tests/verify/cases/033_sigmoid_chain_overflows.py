"""033 sigmoid differentiated through exp(-x): inf * 0 for large negative x.

Kind: overflow. Effect of the wrong form: silent (NaN).
Source: https://github.com/tinygrad/tinygrad/pull/1113
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.sigmoid(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    e = torch.exp(-x)
    return (grad * e / (1 + e) ** 2,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    y = torch.sigmoid(x)
    return (grad * y * (1 - y),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([-1000.0, 0.3]),)
