"""Beyond 20 softplus is the identity; its backward there is 0.

Kind: branch. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return F.softplus(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (torch.where(x > 20, 0.0, grad * torch.sigmoid(x)),)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * torch.sigmoid(x),)
