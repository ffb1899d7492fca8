"""Rows chosen twice: their gradients are assigned, not added.

Kind: duplicate-index. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def forward(x: Float[Tensor, "n d"], idx: Int[Tensor, "k"]) -> Float[Tensor, "k d"]:
    return x.index_select(0, idx)


def wrong_backward(
    grad: Float[Tensor, "k d"], x: Float[Tensor, "n d"], idx: Int[Tensor, "k"]
) -> tuple[Float[Tensor, "n d"], None]:
    dx = torch.zeros_like(x)
    dx[idx] += grad  # BUG
    return dx, None


def right_backward(
    grad: Float[Tensor, "k d"], x: Float[Tensor, "n d"], idx: Int[Tensor, "k"]
) -> tuple[Float[Tensor, "n d"], None]:
    dx = torch.zeros_like(x)
    dx.index_put_((idx,), grad, accumulate=True)
    return dx, None
