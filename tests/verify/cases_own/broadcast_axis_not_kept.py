"""The sum over a broadcast axis is right for two axes only.

Kind: unbroadcast. Effect of the wrong form: silent.
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b t d"], scale: Float[Tensor, "d"]) -> Float[Tensor, "b t d"]:
    return x * scale


def wrong_backward(
    grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"], scale: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "d"]]:
    return grad * scale, (grad * x).sum(0)[0]  # BUG


def right_backward(
    grad: Float[Tensor, "b t d"], x: Float[Tensor, "b t d"], scale: Float[Tensor, "d"]
) -> tuple[Float[Tensor, "b t d"], Float[Tensor, "d"]]:
    return grad * scale, (grad * x).sum((0, 1))
