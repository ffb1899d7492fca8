"""Overlapping windows: the gradient of an entry is that of its last window only.

Kind: accumulation. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n+2"]) -> Float[Tensor, "n 3"]:
    return x.unfold(0, 3, 1)


def wrong_backward(grad: Float[Tensor, "n 3"], x: Float[Tensor, "n+2"]) -> tuple[Float[Tensor, "n+2"]]:
    dx = torch.zeros_like(x)
    for k in range(3):
        dx[k : k + grad.shape[0]] = grad[:, k]  # BUG
    return (dx,)


def right_backward(grad: Float[Tensor, "n 3"], x: Float[Tensor, "n+2"]) -> tuple[Float[Tensor, "n+2"]]:
    dx = torch.zeros_like(x)
    places = torch.arange(grad.shape[0])[:, None] + torch.arange(3)
    dx.index_add_(0, places.flatten(), grad.reshape(-1))
    return (dx,)
