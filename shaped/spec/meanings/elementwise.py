"""Elementary functions, entry by entry."""

from __future__ import annotations

from shaped.spec.expr import apply
from shaped.spec.meaning import meaning
from shaped.spec.tensor import Tensor, pointwise


@meaning("exp")
def exp(input: Tensor) -> Tensor:
    return pointwise(lambda x: apply("exp", x), input)
