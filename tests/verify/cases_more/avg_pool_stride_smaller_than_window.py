"""Averages of windows of 3 at stride 1: the gradient is spread as if they did not overlap.

Kind: windows. Effect of the wrong form: silent.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "b l"]) -> Float[Tensor, "b l"]:
    return F.avg_pool1d(x[:, None], kernel_size=3, stride=1, padding=1, count_include_pad=False)[:, 0]


def _counts(x: Tensor) -> Tensor:
    ones = torch.ones(1, 1, x.size(1), dtype=x.dtype)
    return F.conv1d(ones, torch.ones(1, 1, 3, dtype=x.dtype), padding=1)[0]


def wrong_backward(grad: Float[Tensor, "b l"], x: Float[Tensor, "b l"]) -> tuple[Float[Tensor, "b l"]]:
    g = F.pad(grad, (1, 1)) / 3  # BUG
    return (g[:, :-2] + g[:, 1:-1] + g[:, 2:],)


def right_backward(grad: Float[Tensor, "b l"], x: Float[Tensor, "b l"]) -> tuple[Float[Tensor, "b l"]]:
    g = F.pad(grad / _counts(x), (1, 1))
    return (g[:, :-2] + g[:, 1:-1] + g[:, 2:],)
