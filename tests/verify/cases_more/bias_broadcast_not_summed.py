"""The gradient of a bias of shape (1, c) is not summed over the batch.

Kind: unbroadcast. Effect of the wrong form: silent.
Source: https://github.com/deeplearning4j/nd4j/issues/2424
"""

from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b c"], bias: Float[Tensor, "1 c"]) -> Float[Tensor, "b c"]:
    return x + bias


def wrong_backward(
    grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"], bias: Float[Tensor, "1 c"]
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "1 c"]]:
    return grad, grad  # BUG


def right_backward(
    grad: Float[Tensor, "b c"], x: Float[Tensor, "b c"], bias: Float[Tensor, "1 c"]
) -> tuple[Float[Tensor, "b c"], Float[Tensor, "1 c"]]:
    return grad, grad.sum_to_size(bias.shape)
