"""The cosine of a zero vector: the norms are bounded below in the forward alone.

Kind: singular-point. Effect of the wrong form: silent (NaN).
"""

import torch
from jaxtyping import Float
from torch import Tensor

EPS = 1e-8


def forward(x: Float[Tensor, "b d"], y: Float[Tensor, "b d"]) -> Float[Tensor, "b"]:
    nx, ny = x.norm(dim=1), y.norm(dim=1)
    return (x * y).sum(1) / torch.clamp_min(nx, EPS) / torch.clamp_min(ny, EPS)


def _half(grad: Tensor, x: Tensor, y: Tensor, bounded: bool) -> Tensor:
    nx, ny = x.norm(dim=1, keepdim=True), y.norm(dim=1, keepdim=True).clamp_min(EPS)
    mx = nx.clamp_min(EPS) if bounded else nx
    dot = (x * y).sum(1, keepdim=True)
    through = dot * x / mx**3
    if bounded:
        through = through * (nx > EPS)
    return grad[:, None] * (y / mx - through) / ny


def wrong_backward(
    grad: Float[Tensor, "b"], x: Float[Tensor, "b d"], y: Float[Tensor, "b d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]]:
    return _half(grad, x, y, False), _half(grad, y, x, False)  # BUG


def right_backward(
    grad: Float[Tensor, "b"], x: Float[Tensor, "b d"], y: Float[Tensor, "b d"]
) -> tuple[Float[Tensor, "b d"], Float[Tensor, "b d"]]:
    return _half(grad, x, y, True), _half(grad, y, x, True)
