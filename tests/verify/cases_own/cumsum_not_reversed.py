"""The gradient of a cumulative sum runs forward.

Kind: wrong-axis. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b n"]:
    return x.cumsum(-1)


def wrong_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad.cumsum(-1),)  # BUG


def right_backward(grad: Float[Tensor, "b n"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad.flip(-1).cumsum(-1).flip(-1),)
