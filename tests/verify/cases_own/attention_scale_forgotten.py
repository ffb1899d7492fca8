"""The scores are scaled in the forward, their gradient is not.

Kind: missing-factor. Effect of the wrong form: silent.
"""

import math

from jaxtyping import Float
from torch import Tensor


def forward(q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]) -> Float[Tensor, "t e"]:
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v


def _scores(
    grad: Float[Tensor, "t e"], q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]
) -> tuple[Float[Tensor, "t s"], Float[Tensor, "t s"]]:
    p = (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)
    dp = grad @ v.T
    return p, p * (dp - (dp * p).sum(-1, keepdim=True))


def wrong_backward(
    grad: Float[Tensor, "t e"], q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]
) -> tuple[Float[Tensor, "t d"], Float[Tensor, "s d"], Float[Tensor, "s e"]]:
    p, ds = _scores(grad, q, k, v)
    return ds @ k, ds.T @ q, p.T @ grad  # BUG


def right_backward(
    grad: Float[Tensor, "t e"], q: Float[Tensor, "t d"], k: Float[Tensor, "s d"], v: Float[Tensor, "s e"]
) -> tuple[Float[Tensor, "t d"], Float[Tensor, "s d"], Float[Tensor, "s e"]]:
    p, ds = _scores(grad, q, k, v)
    ds = ds / math.sqrt(q.shape[-1])
    return ds @ k, ds.T @ q, p.T @ grad
