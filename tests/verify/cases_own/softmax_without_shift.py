"""Softmax recomputed in the backward without subtracting the maximum.

Kind: overflow. Effect of the wrong form: silent (NaN).
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return x.softmax(-1)


def wrong_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    e = x.exp()  # BUG
    y = e / e.sum(-1, keepdim=True)
    return (y * (grad - (grad * y).sum(-1, keepdim=True)),)


def right_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    e = (x - x.amax(-1, keepdim=True)).exp()
    y = e / e.sum(-1, keepdim=True)
    return (y * (grad - (grad * y).sum(-1, keepdim=True)),)
