"""Attention weights of a row without any key: the backward divides by a sum of 0.

Kind: log-domain-inf. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def forward(s: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"]) -> Float[Tensor, "q k"]:
    p = s.masked_fill(~mask, float("-inf")).softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), p, 0.0)


def wrong_backward(
    grad: Float[Tensor, "q k"], s: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"]
) -> tuple[Float[Tensor, "q k"], None]:
    p = s.masked_fill(~mask, float("-inf")).softmax(-1)  # BUG
    return p * (grad - (p * grad).sum(-1, keepdim=True)), None


def right_backward(
    grad: Float[Tensor, "q k"], s: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"]
) -> tuple[Float[Tensor, "q k"], None]:
    p = s.masked_fill(~mask, float("-inf")).softmax(-1)
    p = p.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return p * (grad - (p * grad).sum(-1, keepdim=True)), None
