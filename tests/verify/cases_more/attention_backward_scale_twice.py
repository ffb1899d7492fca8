"""Attention: the scale is applied to q before and to dq again.

Kind: missing-factor. Effect of the wrong form: silent.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def forward(q: Float[Tensor, "h t d"], k: Float[Tensor, "h s d"], v: Float[Tensor, "h s e"]) -> Float[Tensor, "h t e"]:
    weights = torch.softmax(torch.einsum("htd,hsd->hts", q, k) / math.sqrt(q.size(-1)), dim=-1)
    return torch.einsum("hts,hse->hte", weights, v)


def _parts(grad: Tensor, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    p = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1)
    dp = grad @ v.transpose(-2, -1)
    delta = (grad * (p @ v)).sum(-1, keepdim=True)
    return p, p * (dp - delta)


def wrong_backward(
    grad: Float[Tensor, "h t e"], q: Float[Tensor, "h t d"], k: Float[Tensor, "h s d"], v: Float[Tensor, "h s e"]
) -> tuple[Float[Tensor, "h t d"], Float[Tensor, "h s d"], Float[Tensor, "h s e"]]:
    p, ds = _parts(grad, q, k, v)
    c = q.shape[-1] ** -0.5
    return ds @ k * c * c, ds.mT @ q * c, p.mT @ grad  # BUG


def right_backward(
    grad: Float[Tensor, "h t e"], q: Float[Tensor, "h t d"], k: Float[Tensor, "h s d"], v: Float[Tensor, "h s e"]
) -> tuple[Float[Tensor, "h t d"], Float[Tensor, "h s d"], Float[Tensor, "h s e"]]:
    p, ds = _parts(grad, q, k, v)
    c = q.shape[-1] ** -0.5
    return ds @ k * c, ds.mT @ q * c, p.mT @ grad
