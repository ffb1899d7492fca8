"""The backward of the distances of order 1 is that of order 2.

Kind: wrong-function. Effect of the wrong form: silent.
Source: https://github.com/flagos-ai/FlagGems/issues/5023
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return (x[:, None] - y[None, :]).abs().sum(-1)


def wrong_backward(
    grad: Float[Tensor, "n m"], x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]
) -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"]]:
    diff = x.unsqueeze(1) - y.unsqueeze(0)
    contribution = grad[..., None] * diff / (diff.norm(dim=-1, keepdim=True) + 1e-12)  # BUG
    return contribution.sum(dim=1), -contribution.sum(dim=0)


def right_backward(
    grad: Float[Tensor, "n m"], x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]
) -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"]]:
    diff = x.unsqueeze(1) - y.unsqueeze(0)
    contribution = grad[..., None] * torch.sign(diff)
    return contribution.sum(dim=1), -contribution.sum(dim=0)
