"""A product along an axis, through the logarithm of the absolute value.

Kind: division-by-zero-input. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b 3"]) -> Float[Tensor, "b"]:
    return torch.prod(x, dim=1)


def wrong_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b 3"]) -> tuple[Float[Tensor, "b 3"]]:
    others = torch.exp(x.abs().log().sum(1, keepdim=True) - x.abs().log())
    sign = x.sign().prod(1, keepdim=True) * x.sign()
    return (grad[:, None] * sign * others,)  # BUG


def right_backward(grad: Float[Tensor, "b"], x: Float[Tensor, "b 3"]) -> tuple[Float[Tensor, "b 3"]]:
    a, b, c = x.unbind(1)
    return (torch.stack((b * c, a * c, a * b), dim=1) * grad[:, None],)
