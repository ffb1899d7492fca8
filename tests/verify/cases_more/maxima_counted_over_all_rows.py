"""The ties of a maximum are counted over all rows.

Kind: ties. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b n"]) -> Float[Tensor, "b"]:
    return x.amax(-1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    top = (x == x.amax(-1, keepdim=True)).to(x.dtype)
    return (grad[:, None] * top / top.sum(),)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b n"]) -> tuple[Float[Tensor, "b n"]]:
    top = (x == x.amax(-1, keepdim=True)).to(x.dtype)
    return (grad[:, None] * top / top.sum(-1, keepdim=True),)
