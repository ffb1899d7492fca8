"""The gradient is collected in a float32 buffer.

Kind: dtype. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x[:, 0]


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    d = torch.zeros(x.shape, dtype=torch.float32)  # BUG
    d[:, 0] = grad
    return (d,)


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    d = torch.zeros_like(x)
    d[:, 0] = grad
    return (d,)
