"""039 dA = G @ B and dB = A @ G: right shapes for square matrices, wrong values.

Kind: missing-transpose. Effect of the wrong form: silent.
Source: https://github.com/tile-ai/TileOPs/pull/54 ; https://github.com/HomericIntelligence/Odyssey/pull/2799
"""

import torch
from jaxtyping import Float
from torch import Tensor


def forward(a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    return a @ b


def wrong_backward(
    grad: Float[Tensor, "n n"], a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    return grad @ b, a @ grad  # BUG


def right_backward(
    grad: Float[Tensor, "n n"], a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]
) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    return grad @ b.T, a.T @ grad


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(3, 3), torch.randn(3, 3)
