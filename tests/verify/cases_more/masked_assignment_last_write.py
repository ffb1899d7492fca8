"""Two masks assign in turn; the first still takes the gradient of what the second wrote over.

Kind: overwritten. Effect of the wrong form: silent.
"""

from jaxtyping import Bool, Float
from torch import Tensor


def forward(
    x: Float[Tensor, "n"], m: Bool[Tensor, "n"], a: Float[Tensor, ""], k: Bool[Tensor, "n"], b: Float[Tensor, ""]
) -> Float[Tensor, "n"]:
    y = x.clone()
    y[m] = a
    y[k] = b
    return y


def wrong_backward(
    grad: Float[Tensor, "n"],
    x: Float[Tensor, "n"],
    m: Bool[Tensor, "n"],
    a: Float[Tensor, ""],
    k: Bool[Tensor, "n"],
    b: Float[Tensor, ""],
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, ""], None, Float[Tensor, ""]]:
    return grad.masked_fill(m | k, 0), None, grad[m].sum(), None, grad[k].sum()  # BUG


def right_backward(
    grad: Float[Tensor, "n"],
    x: Float[Tensor, "n"],
    m: Bool[Tensor, "n"],
    a: Float[Tensor, ""],
    k: Bool[Tensor, "n"],
    b: Float[Tensor, ""],
) -> tuple[Float[Tensor, "n"], None, Float[Tensor, ""], None, Float[Tensor, ""]]:
    return grad.masked_fill(m | k, 0), None, grad[m & ~k].sum(), None, grad[k].sum()
