"""A rotation's gradient is rotated by the same angle instead of back.

Kind: sign. Effect of the wrong form: silent.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def forward(x: Float[Tensor, "t 2*h"], angle: Float[Tensor, "t h"]) -> Float[Tensor, "t 2*h"]:
    return _rotate(x, angle.cos(), angle.sin())


def _angle(grad: Tensor, x: Tensor, angle: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    ga, gb = grad.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return ga * (-a * sin - b * cos) + gb * (-b * sin + a * cos)


def wrong_backward(
    grad: Float[Tensor, "t 2*h"], x: Float[Tensor, "t 2*h"], angle: Float[Tensor, "t h"]
) -> tuple[Float[Tensor, "t 2*h"], Float[Tensor, "t h"]]:
    return _rotate(grad, angle.cos(), angle.sin()), _angle(grad, x, angle)  # BUG


def right_backward(
    grad: Float[Tensor, "t 2*h"], x: Float[Tensor, "t 2*h"], angle: Float[Tensor, "t h"]
) -> tuple[Float[Tensor, "t 2*h"], Float[Tensor, "t h"]]:
    return _rotate(grad, angle.cos(), -angle.sin()), _angle(grad, x, angle)
