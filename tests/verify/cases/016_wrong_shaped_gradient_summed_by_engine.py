"""016 backward returns (4, 3) for a (3,) input; the autograd engine sums it instead of complaining.

Kind: unbroadcast. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/65244
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "3"]) -> Float[Tensor, ""]:
    return x.sum()


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "3"]) -> tuple[Float[Tensor, "3"]]:
    return (grad * torch.ones(4, 3, dtype=x.dtype),)  # BUG


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "3"]) -> tuple[Float[Tensor, "3"]]:
    return (grad * torch.ones_like(x),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(3),)
