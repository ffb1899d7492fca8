"""A convolution of stride 2: the weight gradient reads the input at stride 1.

Kind: stride. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b 2*l"], w: Float[Tensor, "2"]) -> Float[Tensor, "b l"]:
    return F.conv1d(x.unsqueeze(1), w.view(1, 1, 2), stride=2).squeeze(1)


def _dx(grad: Tensor, x: Tensor, w: Tensor) -> Tensor:
    dx = torch.empty_like(x)
    dx[:, 0::2] = grad * w[0]
    dx[:, 1::2] = grad * w[1]
    return dx


def wrong_backward(
    grad: Float[Tensor, "b l"], x: Float[Tensor, "b 2*l"], w: Float[Tensor, "2"]
) -> tuple[Float[Tensor, "b 2*l"], Float[Tensor, "2"]]:
    length = grad.shape[1]
    return _dx(grad, x, w), torch.stack([(grad * x[:, k : k + length]).sum() for k in range(2)])  # BUG


def right_backward(
    grad: Float[Tensor, "b l"], x: Float[Tensor, "b 2*l"], w: Float[Tensor, "2"]
) -> tuple[Float[Tensor, "b 2*l"], Float[Tensor, "2"]]:
    return _dx(grad, x, w), torch.stack([(grad * x[:, k::2]).sum() for k in range(2)])
