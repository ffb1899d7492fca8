"""002 product over all elements: backward lacks the incoming gradient (sign of -prod lost).

Kind: ignores-upstream-grad. Effect of the wrong form: silent.
Source: https://github.com/pytorch/pytorch/issues/995
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, ""]:
    return x.prod()


def wrong_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (x.prod() / x,)  # BUG


def right_backward(grad: Float[Tensor, ""], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * x.prod() / x,)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([2.0, 3.0, -1.5]),)
