"""cumprod: the reversed sum of grad * out is divided by x.

Kind: division-by-zero-input. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.cumprod(0)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    weighted = grad * x.cumprod(0)
    return (weighted.flip(0).cumsum(0).flip(0) / x,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    dx = torch.zeros_like(x)
    n = x.shape[0]
    for i in range(n):
        left = x[:i].prod()
        for j in range(i, n):
            dx[i] += grad[j] * left * x[i + 1 : j + 1].prod()
    return (dx,)
