"""x[1::2]: the gradient is put at the even places.

Kind: indexing. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n+2"]) -> Float[Tensor, "m"]:
    return x[1::2]


def wrong_backward(grad: Float[Tensor, "m"], x: Float[Tensor, "n+2"]) -> tuple[Float[Tensor, "n+2"]]:
    dx = x.new_zeros(x.shape)
    dx[: 2 * grad.numel() : 2] = grad  # BUG
    return (dx,)


def right_backward(grad: Float[Tensor, "m"], x: Float[Tensor, "n+2"]) -> tuple[Float[Tensor, "n+2"]]:
    dx = x.new_zeros(x.shape)
    dx[1::2] = grad
    return (dx,)
