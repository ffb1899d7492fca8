"""The Jacobian of log_softmax is transposed.

Kind: missing-transpose. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.log_softmax(x, dim=0)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    p = torch.softmax(x, 0)
    jacobian = torch.eye(x.shape[0], dtype=x.dtype) - p[:, None]  # BUG: transposed
    return (jacobian.T @ grad,)


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    p = torch.softmax(x, 0)
    jacobian = torch.eye(x.shape[0], dtype=x.dtype) - p[None, :]
    return (jacobian.T @ grad,)
