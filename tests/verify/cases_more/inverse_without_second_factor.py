"""The gradient of an inverse is -B^T G B^T; one factor is not transposed.

Kind: missing-transpose. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    return torch.linalg.inv(a)


def wrong_backward(grad: Float[Tensor, "n n"], a: Float[Tensor, "n n"]) -> tuple[Float[Tensor, "n n"]]:
    inverse = torch.linalg.inv(a)
    return (-inverse.mT @ grad @ inverse,)  # BUG


def right_backward(grad: Float[Tensor, "n n"], a: Float[Tensor, "n n"]) -> tuple[Float[Tensor, "n n"]]:
    inverse = torch.linalg.inv(a)
    return (-inverse.mT @ grad @ inverse.mT,)
