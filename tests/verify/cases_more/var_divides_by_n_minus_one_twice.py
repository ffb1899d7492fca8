"""Variance along an axis: the factor of the unbiased estimate is that of the biased one.

Kind: missing-factor. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.var(dim=1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (2.0 / x.size(1) * grad.unsqueeze(-1) * (x - x.mean(1, keepdim=True)),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (2.0 / (x.size(1) - 1) * grad.unsqueeze(-1) * (x - x.mean(1, keepdim=True)),)
