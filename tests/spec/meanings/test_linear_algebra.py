"""Determinants, inverses and powers of small matrices: as torch."""

from __future__ import annotations

import pytest
import torch

from shaped.errors import ShapeError
from shaped.spec.tensor import NotExpressible, variable
from tests.spec.meanings.against_torch import assert_as_torch, assert_backward

# Well-conditioned matrices of size 3: some tens of roundings of 1.1e-16 times numbers of size 1 to 100.
BOUND = 1e-11


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_determinants_and_inverses_are_those_of_torch(size: int) -> None:
    axes = f"b {size} {size}"
    assert_as_torch(lambda x: torch.linalg.det(x), axes, bound=BOUND, b=2)
    assert_as_torch(lambda x: torch.linalg.inv(x), axes, bound=BOUND, b=2)
    if size < 4:
        assert_backward("linalg.det", axes, bound=BOUND, b=2)
        assert_backward("linalg.inv", axes, bound=1e-9, b=2)  # the inverse enters twice


@pytest.mark.parametrize("power", [0, 1, 3, -2])
def test_powers_are_those_of_torch(power: int) -> None:
    assert_as_torch(lambda x: torch.linalg.matrix_power(x, power), "2 2", bound=BOUND)


def test_powers_of_any_size_are_those_of_torch() -> None:
    assert_as_torch(lambda x: torch.linalg.matrix_power(x, 3), "b n n", bound=BOUND, b=2, n=3)


def test_a_matrix_of_powers_is_that_of_torch() -> None:
    assert_as_torch(lambda x: torch.vander(x, 3), "n", bound=1e-14, n=4)
    assert_as_torch(lambda x: torch.vander(x, 3, increasing=True), "n", bound=1e-14, n=4)


def test_what_is_not_written_out_is_refused() -> None:
    with pytest.raises(NotExpressible, match="size n"):
        torch.linalg.det(variable("x", ("n", "n")))
    with pytest.raises(NotExpressible, match="at most 4"):
        torch.linalg.inv(variable("x", (5, 5)))
    with pytest.raises(ShapeError, match="square"):
        torch.linalg.det(variable("x", (2, 3)))
