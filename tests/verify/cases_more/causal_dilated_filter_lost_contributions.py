"""A dilated filter of three taps: the gradients of overlapping taps overwrite each other.

Kind: accumulation. Effect of the wrong form: silent.
Source: https://github.com/jmschrei/cherimoya/issues/25
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

D = 2


def forward(x: Float[Tensor, "b l"], w: Float[Tensor, "3"]) -> Float[Tensor, "b l"]:
    padded = F.pad(x, (D, D))
    length = x.shape[1]
    return sum(w[t] * padded[:, t * D : t * D + length] for t in range(3))


def _taps(x: Tensor, grad: Tensor) -> Tensor:
    padded = F.pad(x, (D, D))
    return torch.stack([(grad * padded[:, t * D : t * D + grad.size(1)]).sum() for t in range(3)])


def wrong_backward(
    grad: Float[Tensor, "b l"], x: Float[Tensor, "b l"], w: Float[Tensor, "3"]
) -> tuple[Float[Tensor, "b l"], Float[Tensor, "3"]]:
    dx = torch.zeros_like(F.pad(x, (D, D)))
    length = x.shape[1]
    for t in range(3):
        dx[:, t * D : t * D + length] = w[t] * grad  # BUG
    return dx[:, D : D + length], _taps(x, grad)


def right_backward(
    grad: Float[Tensor, "b l"], x: Float[Tensor, "b l"], w: Float[Tensor, "3"]
) -> tuple[Float[Tensor, "b l"], Float[Tensor, "3"]]:
    dx = torch.zeros_like(F.pad(x, (D, D)))
    length = x.shape[1]
    for t in range(3):
        dx[:, t * D : t * D + length] += w[t] * grad
    return dx[:, D : D + length], _taps(x, grad)
