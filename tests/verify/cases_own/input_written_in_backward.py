"""The backward centres its input in place.

Kind: in-place. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return ((x - x.mean()) ** 2).sum()


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    x -= x.mean()  # BUG
    return (2 * grad * x,)


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (2 * grad * (x - x.mean()),)
