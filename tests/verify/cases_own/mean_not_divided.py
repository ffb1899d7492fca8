"""The mean over all elements without the division.

Kind: missing-factor. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.mean(-1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad[:, None].expand_as(x).clone(),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return ((grad / x.shape[-1])[:, None].expand_as(x).clone(),)
