"""Sums, means, products and extrema over axes."""

from __future__ import annotations

from collections.abc import Sequence

from shaped.spec.expr import Greatest, Sum
from shaped.spec.meaning import meaning
from shaped.spec.tensor import Tensor, reduced


def as_dims(dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """The axes that an argument `dim` names; none for all axes."""
    if dim is None:
        return ()
    return (dim,) if isinstance(dim, int) else tuple(dim)


@meaning("sum")
def sum(input: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, dtype: object = None) -> Tensor:
    return reduced(Sum, input, as_dims(dim), keepdim)


@meaning("amax")
def amax(input: Tensor, dim: int | Sequence[int] = (), keepdim: bool = False) -> Tensor:
    return reduced(Greatest, input, as_dims(dim), keepdim)
