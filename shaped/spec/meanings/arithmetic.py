"""Arithmetic of numbers, entry by entry."""

from __future__ import annotations

from shaped.spec.meaning import meaning
from shaped.spec.tensor import Tensor, TensorLike, pointwise


@meaning("add")
def add(input: TensorLike, other: TensorLike, alpha: TensorLike = 1) -> Tensor:
    return pointwise(lambda x, y: x + y, input, other if alpha == 1 else mul(other, alpha))


@meaning("sub")
def sub(input: TensorLike, other: TensorLike, alpha: TensorLike = 1) -> Tensor:
    return pointwise(lambda x, y: x - y, input, other if alpha == 1 else mul(other, alpha))


@meaning("mul")
def mul(input: TensorLike, other: TensorLike) -> Tensor:
    return pointwise(lambda x, y: x * y, input, other)


@meaning("div")
def div(input: TensorLike, other: TensorLike, rounding_mode: str | None = None) -> Tensor:
    return pointwise(lambda x, y: x / y, input, other)
