"""The negative slope is applied where the output is positive.

Kind: wrong-condition. Effect of the wrong form: silent.
Source: https://github.com/Oneflow-Inc/oneflow/pull/7634
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

ALPHA = 0.2


def forward(x: Float[Tensor, "a b"]) -> Float[Tensor, "a b"]:
    return F.leaky_relu(x, negative_slope=ALPHA)


def wrong_backward(grad: Float[Tensor, "a b"], x: Float[Tensor, "a b"]) -> tuple[Float[Tensor, "a b"]]:
    g = grad.clone()
    g[x > 0] *= ALPHA  # BUG
    return (g,)


def right_backward(grad: Float[Tensor, "a b"], x: Float[Tensor, "a b"]) -> tuple[Float[Tensor, "a b"]]:
    g = grad.clone()
    g[x <= 0] *= ALPHA
    return (g,)
