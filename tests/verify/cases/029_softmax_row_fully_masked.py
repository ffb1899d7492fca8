"""029 one query row has every key masked: NaN weights poison the whole batch's gradient.

Kind: log-domain-inf. Effect of the wrong form: silent (NaN).
Source: https://github.com/pytorch/pytorch/issues/41508 ; https://github.com/tracel-ai/burn/pull/4697
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def forward(s: Float[Tensor, "q k"], keep: Bool[Tensor, "q k"]) -> Float[Tensor, "q k"]:
    y = s.masked_fill(~keep, -math.inf).softmax(-1)
    return torch.where(keep.any(-1, keepdim=True), y, torch.zeros_like(y))


def wrong_backward(
    grad: Float[Tensor, "q k"], s: Float[Tensor, "q k"], keep: Bool[Tensor, "q k"]
) -> tuple[Float[Tensor, "q k"], None]:
    y = s.masked_fill(~keep, -math.inf).softmax(-1)  # BUG
    return y * (grad - (grad * y).sum(-1, keepdim=True)), None


def right_backward(
    grad: Float[Tensor, "q k"], s: Float[Tensor, "q k"], keep: Bool[Tensor, "q k"]
) -> tuple[Float[Tensor, "q k"], None]:
    y = forward(s, keep)
    return y * (grad - (grad * y).sum(-1, keepdim=True)), None


def inputs() -> tuple[Tensor, ...]:
    keep = torch.tensor([[True, True, False], [False, False, False]])
    return torch.randn(2, 3), keep
