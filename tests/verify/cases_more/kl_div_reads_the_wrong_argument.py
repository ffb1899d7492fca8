"""KL divergence of log probabilities: the slope to the target is the one to the input.

Kind: wrong-operand. Effect of the wrong form: silent.
Source: https://github.com/linkedin/Liger-Kernel/pull/262
"""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def forward(p: Float[Tensor, "b v"], t: Float[Tensor, "b v"]) -> Float[Tensor, ""]:
    return F.kl_div(p, t, reduction="batchmean", log_target=True)


def wrong_backward(
    grad: Float[Tensor, ""], p: Float[Tensor, "b v"], t: Float[Tensor, "b v"]
) -> tuple[Float[Tensor, "b v"], Float[Tensor, "b v"]]:
    w = grad * t.exp() / p.size(0)
    return -w, w  # BUG


def right_backward(
    grad: Float[Tensor, ""], p: Float[Tensor, "b v"], t: Float[Tensor, "b v"]
) -> tuple[Float[Tensor, "b v"], Float[Tensor, "b v"]]:
    w = grad * t.exp() / p.size(0)
    return -w, w * (t - p + 1)
