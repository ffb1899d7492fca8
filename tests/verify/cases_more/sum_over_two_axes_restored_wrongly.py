"""A sum over axes 0 and 2: the gradient is put back along the wrong axes, right for square inputs alone.

Kind: unbroadcast. Effect of the wrong form: silent.
Source: https://github.com/harvard-edge/cs249r_book/pull/1867
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n n n"]) -> Float[Tensor, "n"]:
    return x.mean(dim=(0, 2))


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n n n"]) -> tuple[Float[Tensor, "n n n"]]:
    n = x.shape[0]
    return (grad.expand(n, n, n) / (n * n),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n n n"]) -> tuple[Float[Tensor, "n n n"]]:
    n = x.shape[0]
    return (grad[None, :, None].expand(n, n, n) / (n * n),)
