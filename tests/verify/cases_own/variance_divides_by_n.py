"""The unbiased variance divides by n - 1, its backward by n.

Kind: reduction-scale. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.var(-1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad[:, None] * 2 * (x - x.mean(-1, keepdim=True)) / x.shape[-1],)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    return (grad[:, None] * 2 * (x - x.mean(-1, keepdim=True)) / (x.shape[-1] - 1),)
