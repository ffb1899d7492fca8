"""Binary cross entropy with logits, through the probability: (p - t) / (p (1 - p)) * p (1 - p) is 0 / 0.

Kind: overflow. Effect of the wrong form: silent (NaN).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(z: Float[Tensor, "n"], t: Float[Tensor, "n"]) -> Float[Tensor, "n"]:
    return F.binary_cross_entropy_with_logits(z, t, reduction="none")


def wrong_backward(
    grad: Float[Tensor, "n"], z: Float[Tensor, "n"], t: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    p = torch.sigmoid(z)
    slope = (1 - t) / (1 - p) - t / p  # BUG
    return grad * slope * p * (1 - p), -grad * z


def right_backward(
    grad: Float[Tensor, "n"], z: Float[Tensor, "n"], t: Float[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return grad * (torch.sigmoid(z) - t), -grad * z
