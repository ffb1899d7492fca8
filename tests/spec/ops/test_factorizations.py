"""Compact factorisations against torch; `op_db` holds their other samples."""

from __future__ import annotations

import pytest
import torch

from shaped.errors import ShapeError
from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.shapes import apply, b, n, of, shape_of, t


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (0, 2, 2), (4, 1, 3, 3)])
def test_square_matrices_are_factored_as_in_torch(shape: tuple[int, ...]) -> None:
    matrix = torch.eye(shape[-1]).expand(shape).contiguous()
    right = torch.ones(*shape[:-1], 2)
    for name in ("lu_factor_ex", "ldl_factor", "ldl_factor_ex", "vander"):
        check_exact(f"torch.linalg.{name}", matrix)
    check_exact("torch.linalg.lu_solve", *torch.linalg.lu_factor(matrix), right)
    check_exact("torch.linalg.ldl_solve", *torch.linalg.ldl_factor(matrix), right)


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 5, 2)])
def test_reflections_have_the_shapes_of_torch(shape: tuple[int, ...]) -> None:
    matrix = torch.ones(shape)
    check_exact("torch.geqrf", matrix)
    reflections, tau = torch.geqrf(matrix)
    check_exact("torch.linalg.householder_product", reflections, tau)
    check("torch.ormqr", reflections, tau, torch.ones(*shape[:-1], 6))


def test_more_columns_than_rows_are_no_reflections() -> None:
    check_refused("torch.linalg.householder_product", torch.ones(2, 3), torch.ones(2))


def test_powers_of_a_vector_are_the_columns() -> None:
    check_exact("torch.linalg.vander", torch.ones(2, 3), N=5)
    check_exact("torch.linalg.vander", torch.tensor([1, 2]))
    check_exact("torch.linalg.vander", torch.tensor(1.0), N=4)
    assert shape_of("torch.linalg.vander", of(b, n)) == "(b, n, n)"


def test_a_right_side_of_other_length_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="3 equations, the right side has 4"):
        apply("torch.linalg.lu_solve", of(b, 3, 3), of(b, 3), of(b, 4, t))
