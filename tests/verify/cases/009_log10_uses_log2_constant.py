"""009 copy-paste from log2: the constant ten is 2.0.

Kind: missing-factor. Effect of the wrong form: silent.
Source: https://github.com/apache/tvm/pull/5395
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.log10(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ten = torch.tensor(2.0)  # BUG
    return (grad / (torch.log(ten) * x),)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    ten = torch.tensor(10.0, dtype=x.dtype)
    return (grad / (torch.log(ten) * x),)


def inputs() -> tuple[Tensor, ...]:
    return (torch.rand(4) + 0.5,)
