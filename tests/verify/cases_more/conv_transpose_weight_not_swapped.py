"""conv_transpose1d: its input gradient is a convolution with the same weight; the backward flips it.

Kind: flip. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b i l"], w: Float[Tensor, "i o 3"]) -> Float[Tensor, "b o l+2"]:
    return F.conv_transpose1d(x, w)


def _dw(grad: Tensor, x: Tensor) -> Tensor:
    windows = grad.unfold(2, 3, 1)
    return torch.einsum("bil,bolk->iok", x, windows)


def wrong_backward(
    grad: Float[Tensor, "b o l+2"], x: Float[Tensor, "b i l"], w: Float[Tensor, "i o 3"]
) -> tuple[Float[Tensor, "b i l"], Float[Tensor, "i o 3"]]:
    return F.conv1d(grad, w.flip(-1)), _dw(grad, x)  # BUG


def right_backward(
    grad: Float[Tensor, "b o l+2"], x: Float[Tensor, "b i l"], w: Float[Tensor, "i o 3"]
) -> tuple[Float[Tensor, "b i l"], Float[Tensor, "i o 3"]]:
    return F.conv1d(grad, w), _dw(grad, x)
