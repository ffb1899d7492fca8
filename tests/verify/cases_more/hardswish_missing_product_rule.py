"""x * relu6(x + 3) / 6: the slope inside lacks the term of relu6.

Kind: missing-term. Effect of the wrong form: silent.
Source: https://github.com/BobMcDear/attorch/issues/16
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return F.hardswish(x)


def wrong_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    return (grad * F.relu6(x + 3) / 6,)  # BUG


def right_backward(grad: Float[Tensor, "n"], x: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"]]:
    middle = x / 3 + 0.5
    slope = torch.where(x < -3, torch.zeros_like(x), torch.where(x <= 3, middle, torch.ones_like(x)))
    return (grad * slope,)
