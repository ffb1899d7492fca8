"""Ops that several tests use."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shaped import custom_grad


@custom_grad
def swish(x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    return x * torch.sigmoid(x)


@swish.backward
def swish_backward(grad: Float[Tensor, "*s"], x: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    s = torch.sigmoid(x)
    return grad * (s + x * s * (1 - s))


@custom_grad
def linear(
    x: Float[Tensor, "b n"], w: Float[Tensor, "m n"], bias: Float[Tensor, "m"] | None = None, scale: float = 1.0
) -> Float[Tensor, "b m"]:
    y = x @ w.T * scale
    return y if bias is None else y + bias


@linear.backward
def linear_backward(
    grad: Tensor, x: Tensor, w: Tensor, bias: Tensor | None, scale: float
) -> tuple[Tensor, Tensor, Tensor | None, None]:
    return grad @ w * scale, grad.T @ x * scale, None if bias is None else grad.sum(0), None


@custom_grad
def polar(r: Float[Tensor, "n"], angle: Float[Tensor, "n"]) -> tuple[Float[Tensor, "n"], Float[Tensor, "n"]]:
    return r * angle.cos(), r * angle.sin()


@polar.backward
def polar_backward(grads: tuple[Tensor, Tensor], r: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    a, b = grads
    return a * angle.cos() + b * angle.sin(), r * (b * angle.cos() - a * angle.sin())


@custom_grad
def weighted(xs: list[Float[Tensor, "n"]], by: list[int]) -> tuple[Float[Tensor, "n"], Int[Tensor, "n"]]:
    """A sum, and its order: an output of integers."""
    total = torch.stack([x * k for x, k in zip(xs, by)]).sum(0)
    return total, total.argsort()


@weighted.backward
def weighted_backward(grads: tuple[Tensor, None], xs: list[Tensor], by: list[int]) -> tuple[list[Tensor], None]:
    grad, of_the_order = grads
    assert of_the_order is None
    return [grad * k for k in by], None


def double(*shape: int) -> Tensor:
    """A tensor that wants a gradient."""
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)
