"""041 backward divides by the batch size whatever the reduction mode.

Kind: reduction-scale. Effect of the wrong form: silent.
Source: https://github.com/paiml/aprender/pull/2182
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


def forward(z: Float[Tensor, "b c"], y: Int[Tensor, "b"]) -> Float[Tensor, ""]:
    return F.cross_entropy(z, y, reduction="sum")


def wrong_backward(
    grad: Float[Tensor, ""], z: Float[Tensor, "b c"], y: Int[Tensor, "b"]
) -> tuple[Float[Tensor, "b c"], None]:
    return grad * (z.softmax(-1) - F.one_hot(y, z.size(1))) / z.size(0), None  # BUG


def right_backward(
    grad: Float[Tensor, ""], z: Float[Tensor, "b c"], y: Int[Tensor, "b"]
) -> tuple[Float[Tensor, "b c"], None]:
    return grad * (z.softmax(-1) - F.one_hot(y, z.size(1))), None


def inputs() -> tuple[Tensor, ...]:
    return torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
