"""gather along the last axis: scatter keeps one of several gradients.

Kind: duplicate-index. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def forward(x: Float[Tensor, "b n"], idx: Int[Tensor, "b k"]) -> Float[Tensor, "b k"]:
    return torch.gather(x, 1, idx)


def wrong_backward(
    grad: Float[Tensor, "b k"], x: Float[Tensor, "b n"], idx: Int[Tensor, "b k"]
) -> tuple[Float[Tensor, "b n"], None]:
    return x.new_zeros(x.shape).scatter(dim=1, index=idx, src=grad), None  # BUG


def right_backward(
    grad: Float[Tensor, "b k"], x: Float[Tensor, "b n"], idx: Int[Tensor, "b k"]
) -> tuple[Float[Tensor, "b n"], None]:
    return x.new_zeros(x.shape).scatter_add(dim=1, index=idx, src=grad), None
