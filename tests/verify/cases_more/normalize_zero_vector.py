"""F.normalize's backward divides by the norm, not by the clamped one.

Kind: singular-point. Effect of the wrong form: silent (NaN).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

EPS = 1e-6


def forward(x: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
    return F.normalize(x, dim=-1, eps=EPS)


def wrong_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    norm = x.norm(dim=-1, keepdim=True)
    y = x / norm  # BUG
    return ((grad - y * (y * grad).sum(-1, keepdim=True)) / norm,)


def right_backward(grad: Float[Tensor, "b d"], x: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "b d"]]:
    norm = x.norm(dim=-1, keepdim=True)
    bounded = norm.clamp_min(EPS)
    y = x / bounded
    inner = torch.where(norm > EPS, (y * grad).sum(-1, keepdim=True), 0.0)
    return ((grad - y * inner) / bounded,)
