"""The gradient of a masked selection is put at the front, not at the places of the mask.

Kind: indexing. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def forward(x: Float[Tensor, "n"], mask: Bool[Tensor, "n"]) -> Float[Tensor, ""]:
    return (x[mask] ** 2).sum()


def wrong_backward(
    grad: Float[Tensor, ""], x: Float[Tensor, "n"], mask: Bool[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], None]:
    kept = 2 * grad * x[mask]
    dx = torch.zeros_like(x)
    dx[: kept.numel()] = kept  # BUG
    return dx, None


def right_backward(
    grad: Float[Tensor, ""], x: Float[Tensor, "n"], mask: Bool[Tensor, "n"]
) -> tuple[Float[Tensor, "n"], None]:
    dx = torch.zeros_like(x)
    dx[mask] = 2 * grad * x[mask]
    return dx, None
