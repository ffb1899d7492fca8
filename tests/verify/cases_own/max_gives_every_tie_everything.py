"""Each of several largest elements gets the whole gradient.

Kind: ties. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.amax(-1) * 2


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad[:, None] * (x == x.amax(-1, keepdim=True)),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    best = (x == x.amax(-1, keepdim=True)).to(x.dtype)
    return (2 * grad[:, None] * best / best.sum(-1, keepdim=True),)
