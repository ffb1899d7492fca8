"""031 product / x is NaN at the zero element; the true gradient there is the product of the others.

Kind: division-by-zero-input. Effect of the wrong form: silent (NaN).
Source: https://github.com/tinygrad/tinygrad/pull/17404
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return x.prod()


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * x.prod() / x,)  # BUG


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    one = torch.ones_like(x[:1])
    left = torch.cat((one, x[:-1])).cumprod(0)
    right = torch.cat((x[1:], one)).flip(0).cumprod(0).flip(0)
    return (grad * left * right,)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([0.0, 2.0, 3.0]),)
