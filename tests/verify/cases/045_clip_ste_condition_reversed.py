"""045 leaky clip: the small slope is given to the inside and the full slope to the outside.

Kind: straight-through. Effect of the wrong form: silent.
Source: https://github.com/necla-ml/Diff-JPEG/issues/2
"""

import torch
from jaxtyping import Float
from torch import Tensor

LOW, HIGH, LEAK = 0.0, 1.0, 0.01


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return x.clamp(LOW, HIGH)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    outside = (x < LOW) | (x > HIGH)
    return (torch.where(outside, 1.0, LEAK) * grad,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    outside = (x < LOW) | (x > HIGH)
    return (torch.where(outside, LEAK, 1.0) * grad,)


def inputs() -> tuple[Tensor, ...]:
    return (torch.tensor([-0.5, 0.25, 0.75, 1.5]),)


def expected(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * torch.tensor([LEAK, 1.0, 1.0, LEAK], dtype=grad.dtype),)
