"""The mean of a cross entropy counts ignored targets in the backward only.

Kind: reduction-scale. Effect of the wrong form: silent.
"""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

IGNORED = -100


def forward(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(z, y, ignore_index=IGNORED)


def _gradient(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, "b c"]:
    counted = (y != IGNORED)[:, None]
    return counted * (z.softmax(-1) - F.one_hot(y.clamp(min=0), z.shape[1]))


def wrong_backward(
    grad: Float[Tensor, ""], z: Float[Tensor, "b c"], y: Int[Tensor, "b"]
) -> tuple[Float[Tensor, "b c"], None]:
    return grad * _gradient(z, y) / y.numel(), None  # BUG


def right_backward(
    grad: Float[Tensor, ""], z: Float[Tensor, "b c"], y: Int[Tensor, "b"]
) -> tuple[Float[Tensor, "b c"], None]:
    return grad * _gradient(z, y) / (y != IGNORED).sum(), None
