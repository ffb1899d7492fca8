"""Products over pairs of axes, Kronecker's and the cross product: as torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.tensor import variable
from tests.spec.meanings.against_torch import SUM_BOUND, assert_as_torch, assert_backward

SIZES = {"n": 3, "m": 4, "k": 2}


@pytest.mark.parametrize(
    ("program", "axes"),
    [
        (lambda x, y: torch.tensordot(x, y, 1), ["n m", "m k"]),
        (lambda x, y: torch.tensordot(x, y, 0), ["n", "k"]),
        (lambda x, y: torch.tensordot(x, y, dims=([1, 0], [0, 1])), ["n m", "m n k"]),
        (lambda x, y: torch.tensordot(x, y, dims=([0], [0])), ["1 n", "m k"]),
        (lambda x, y: torch.kron(x, y), ["n m", "k n"]),
        (lambda x, y: torch.kron(x, y), ["n m", "k"]),
        (lambda x, y: torch.linalg.cross(x, y), ["n 3", "n 3"]),
        (lambda x, y: torch.cross(x, y, dim=0), ["3 n", "3 n"]),
    ],
)
def test_products_are_those_of_torch(program: Callable[..., Any], axes: list[str]) -> None:
    assert_as_torch(program, *axes, bound=SUM_BOUND, **SIZES)


def test_the_backward_of_a_cross_product_is_that_of_torch() -> None:
    assert_backward("linalg.cross", "n 3", "n 3", **SIZES)


def test_a_cross_product_needs_three_entries() -> None:
    with pytest.raises(ShapeError, match="must have size 3, not 4"):
        torch.linalg.cross(variable("x", ("n", 4)), variable("y", ("n", 4)))  # type: ignore[arg-type]  # spec tensors
