"""The slope of tanh as 4 / (exp(x) + exp(-x))^2 is fine; as a quotient of exponentials it is inf / inf.

Kind: overflow. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.tanh(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    a, b = torch.exp(x), torch.exp(-x)
    y = (a - b) / (a + b)  # BUG
    return (grad * (1 - y * y),)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    a, b = torch.exp(x), torch.exp(-x)
    return (grad * 4 / (a + b).square(),)
