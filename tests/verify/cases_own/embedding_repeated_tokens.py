"""Rows of a table used twice: assignment keeps the last gradient only.

Kind: duplicate-index. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def forward(table: Float[Tensor, "v d"], tokens: Int[Tensor, "t"]) -> Float[Tensor, "t d"]:
    return table[tokens]


def wrong_backward(
    grad: Float[Tensor, "t d"], table: Float[Tensor, "v d"], tokens: Int[Tensor, "t"]
) -> tuple[Float[Tensor, "v d"], None]:
    d = torch.zeros_like(table)
    d[tokens] = grad  # BUG
    return d, None


def right_backward(
    grad: Float[Tensor, "t d"], table: Float[Tensor, "v d"], tokens: Int[Tensor, "t"]
) -> tuple[Float[Tensor, "v d"], None]:
    return torch.zeros_like(table).index_put((tokens,), grad, accumulate=True), None
