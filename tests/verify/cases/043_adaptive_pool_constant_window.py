"""043 every window assumed to have ceil(in/out) elements; adaptive windows differ in size.

Kind: integer-division. Effect of the wrong form: silent.
Source: https://github.com/PaddlePaddle/Paddle/pull/74077
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

OUT = 3


def _windows(n: int) -> list[tuple[int, int]]:
    return [(i * n // OUT, -(-(i + 1) * n // OUT)) for i in range(OUT)]


def forward(x: Float[Tensor, "1 n"]) -> Float[Tensor, "1 3"]:
    return F.adaptive_avg_pool1d(x, OUT)


def wrong_backward(grad: Float[Tensor, "1 3"], x: Float[Tensor, "1 n"]) -> tuple[Float[Tensor, "1 n"]]:
    d, size = torch.zeros_like(x), -(-x.size(1) // OUT)
    for i, (a, b) in enumerate(_windows(x.size(1))):
        d[:, a:b] += grad[:, i : i + 1] / size  # BUG
    return (d,)


def right_backward(grad: Float[Tensor, "1 3"], x: Float[Tensor, "1 n"]) -> tuple[Float[Tensor, "1 n"]]:
    d = torch.zeros_like(x)
    for i, (a, b) in enumerate(_windows(x.size(1))):
        d[:, a:b] += grad[:, i : i + 1] / (b - a)
    return (d,)


def inputs() -> tuple[Tensor, ...]:
    return (torch.randn(1, 5),)
