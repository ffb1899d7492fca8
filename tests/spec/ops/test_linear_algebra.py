"""Inverses, determinants, factorisations and eigenvalues."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.dtypes import INT64
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import apply, b, d, n, of, shape_of, some

SQUARE = (
    *("inv", "inv_ex", "cholesky", "cholesky_ex", "det", "slogdet", "eig", "eigvals", "eigh", "eigvalsh", "matrix_exp"),
)
ANY_SIZES = ("qr", "svd", "svdvals", "matrix_rank", "cond", "pinv", "lu", "lu_factor")
dtypes = st.sampled_from([torch.float32] * 4 + [torch.float64, torch.complex64, torch.int64])
sides = st.sampled_from([1, 2, 3])


@st.composite
def matrices(draw: st.DrawFn, *, square: bool = False) -> torch.Tensor:
    """Batches of matrices that have ones on the diagonal and zeros elsewhere; vectors now and then."""
    batch, rows = draw(some(0, 2, sides)), draw(sides)
    columns = rows if square and draw(st.integers(0, 5)) else draw(sides)
    dtype = draw(dtypes)
    if not draw(st.integers(0, 12)):
        return torch.ones(draw(some(0, 1)), dtype=dtype)
    return torch.eye(rows, columns, dtype=dtype).expand(*batch, rows, columns).contiguous()


@pytest.mark.parametrize("name", SQUARE)
@given(matrices(square=True))
@settings(max_examples=25)
def test_functions_of_square_matrices_agree_with_torch(name: str, matrix: torch.Tensor) -> None:
    check_exact(f"torch.linalg.{name}", matrix)


@pytest.mark.parametrize("name", ANY_SIZES)
@given(matrices())
@settings(max_examples=25)
def test_functions_of_any_matrices_agree_with_torch(name: str, matrix: torch.Tensor) -> None:
    check_exact(f"torch.linalg.{name}", matrix)


@given(matrices(), st.booleans(), st.booleans())
@settings(max_examples=40)
def test_factorisations_have_the_sizes_that_are_asked_for(matrix: torch.Tensor, some: bool, both: bool) -> None:
    for mode in ("reduced", "complete", "r"):
        check_exact("torch.linalg.qr", matrix, mode)
    check_exact("torch.linalg.svd", matrix, full_matrices=some)
    check_exact("torch.svd", matrix, some, both)
    check_exact("torch.qr", matrix, some)


@given(matrices(square=True), st.integers(-1, 3))
@settings(max_examples=40)
def test_older_names_agree_with_torch(matrix: torch.Tensor, power: int) -> None:
    for name in ("torch.inverse", "torch.cholesky", "torch.logdet", "torch.det"):
        check_exact(name, matrix)
    check_exact("torch.matrix_power", matrix, power)


def test_sizes_of_factors_are_named() -> None:
    assert shape_of("torch.linalg.qr", of(b, n + d, d)) == "(b, d+n, d) (b, d, d)"
    assert shape_of("torch.linalg.svd", of(b, n, d), full_matrices=False) == (
        "(b, n, min(d, n)) (b, min(d, n)) (b, min(d, n), d)"
    )
    assert shape_of("torch.linalg.eigh", TensorType(Shape.of(Pack("x"), n, n))) == "(*x, n) (*x, n, n)"
    assert shape_of("torch.linalg.pinv", of(n, d)) == "(d, n)"


def test_a_matrix_that_is_not_square_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.linalg.inv", of(b, 3, 4))
    assert str(fault.value) == "linalg.inv: (b, 3, 4): expects square matrices, got 3 x 4"


def test_integers_have_no_inverse() -> None:
    with pytest.raises(DtypeError, match="int64 is no float or complex dtype"):
        apply("torch.linalg.inv", of(3, 3).with_dtype(INT64))
