"""Inside and outside of the threshold are exchanged.

Kind: branch. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor

DELTA = 2.5


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return torch.where(x.abs() <= DELTA, 0.5 * x * x, DELTA * (x.abs() - 0.5 * DELTA))


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * torch.where(x.abs() > DELTA, x, DELTA * x.sign()),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * torch.where(x.abs() <= DELTA, x, DELTA * x.sign()),)
