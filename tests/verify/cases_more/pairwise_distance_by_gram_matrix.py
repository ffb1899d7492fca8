"""Squared distances by the Gram matrix; the gradient through the second copy of x is left out.

Kind: missing-term. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    sq = (x * x).sum(1)
    return sq[:, None] + sq[None, :] - 2 * x @ x.T


def wrong_backward(grad: Float[Tensor, "n n"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    return (2 * (grad.sum(1)[:, None] * x - grad @ x),)  # BUG


def right_backward(grad: Float[Tensor, "n n"], x: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n d"]]:
    both = grad + grad.transpose(0, 1)
    return (2 * (both.sum(1)[:, None] * x - both @ x),)
