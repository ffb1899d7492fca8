"""tr(A B): the gradient of A is B, not its transpose.

Kind: missing-transpose. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]) -> Float[Tensor, ""]:
    return torch.trace(a @ b)


def wrong_backward(
    grad: Float[Tensor, ""], a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    return grad * b, grad * a  # BUG


def right_backward(
    grad: Float[Tensor, ""], a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    return grad * b.T, grad * a.T
