"""x / |x| at the zero vector.

Kind: singular-point. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
    return x.norm(dim=-1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    return (grad[:, None] * x / x.norm(dim=-1, keepdim=True),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    n = x.norm(dim=-1, keepdim=True)
    return (grad[:, None] * x / torch.where(n == 0, torch.ones_like(n), n),)
