"""The forward adds eps to the root, the backward below it.

Kind: eps-position. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-2


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return x / ((x * x).mean(-1, keepdim=True).sqrt() + EPS)


def _root(x: Float[Tensor, "b d"]) -> Float[Tensor, "b 1"]:
    return (x * x).mean(-1, keepdim=True).sqrt()


def wrong_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    root = ((x * x).mean(-1, keepdim=True) + EPS).sqrt()  # BUG
    return (grad / root - x * (grad * x).mean(-1, keepdim=True) / root**3,)


def right_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    root = _root(x)
    safe = torch.where(root == 0, torch.ones_like(root), root)
    through = x * (grad * x).mean(-1, keepdim=True) / (safe * (root + EPS) ** 2)
    return (grad / (root + EPS) - through,)
