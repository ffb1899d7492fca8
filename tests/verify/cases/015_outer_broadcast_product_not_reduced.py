"""015 (n, 1) * (1, m): neither gradient is summed over its broadcast axis.

Kind: unbroadcast. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/1787
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n 1"], b: Float[Tensor, "1 m"]) -> Float[Tensor, "n m"]:
    return a * b


def wrong_backward(
    grad: Float[Tensor, "n m"], a: Float[Tensor, "n 1"], b: Float[Tensor, "1 m"]
) -> tuple[Float[Tensor, "n 1"], Float[Tensor, "1 m"]]:
    return grad * b, grad * a  # BUG


def right_backward(
    grad: Float[Tensor, "n m"], a: Float[Tensor, "n 1"], b: Float[Tensor, "1 m"]
) -> tuple[Float[Tensor, "n 1"], Float[Tensor, "1 m"]]:
    return (grad * b).sum(1, keepdim=True), (grad * a).sum(0, keepdim=True)


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(4, 1), torch.randn(1, 3)
