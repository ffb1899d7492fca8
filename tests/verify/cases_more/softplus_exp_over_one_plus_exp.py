"""exp(x) / (1 + exp(x)) is inf / inf for large x.

Kind: overflow. Effect of the wrong form: silent (NaN).
Source: https://github.com/tenstorrent/tt-metal/pull/56397 ; https://github.com/tracel-ai/burn/issues/5373
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

BETA = 2.0


def forward(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return F.softplus(x, beta=BETA, threshold=1e4)


def wrong_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    e = torch.exp(x * BETA)
    return (grad * e * (1 + e).reciprocal(),)  # BUG


def right_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> tuple[Float[Tensor, "*s"]]:
    return (grad.mul(x.mul(BETA).sigmoid()),)
