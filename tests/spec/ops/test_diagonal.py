"""Diagonals and triangles."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.values import UNKNOWN
from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.shapes import apply, b, d, floats, n, of, shape_of, some, t

axes = st.integers(-4, 3)
offsets = st.integers(-4, 4)


@given(some(), offsets, axes, axes)
def test_a_diagonal_is_that_of_torch(shape: list[int], offset: int, i: int, j: int) -> None:
    check_exact("torch.diagonal", floats(shape), offset, i, j)
    check_exact("torch.linalg.diagonal", floats(shape), offset=offset)


@given(some(0, 3), offsets, axes, axes)
def test_a_matrix_with_a_diagonal_is_that_of_torch(shape: list[int], offset: int, i: int, j: int) -> None:
    check_exact("torch.diag", torch.ones(shape), offset)
    check_exact("torch.diagflat", torch.ones(shape), offset)
    check_exact("torch.diag_embed", floats(shape), offset, i, j)
    check_exact("torch.diag_embed", floats(shape))


@given(some(0, 3))
@settings(max_examples=30)
def test_triangles_and_traces_are_those_of_torch(shape: list[int]) -> None:
    for name in ("torch.tril", "torch.triu", "torch.trace"):
        check_exact(name, floats(shape))
    check("torch.tril_indices", 3, 4)


def test_a_triangle_needs_a_matrix() -> None:
    with pytest.raises(ShapeError, match=r"tril: \(t,\): expects at least 2 axes"):
        apply("torch.tril", of(t))
    check_refused("torch.trace", torch.ones(2, 2, 2))


def test_named_diagonals_are_as_long_as_the_shorter_side() -> None:
    assert shape_of("torch.diagonal", of(b, n, n), 0, 1, 2) == "(b, n)"
    assert shape_of("torch.diagonal", of(b, n, n + 2), 0, 1, 2) == "(b, n)"
    assert shape_of("torch.diagonal", of(n, d)) == "(min(d, n),)"
    assert shape_of("torch.diag", of(n)) == "(n, n)"
    assert shape_of("torch.diag_embed", of(b, n), 1) == "(b, n+1, n+1)"


def test_an_unknown_offset_keeps_the_rank() -> None:
    assert shape_of("torch.diagonal", of(b, n, n), UNKNOWN, 1, 2) == "(b, _)"
    assert shape_of("torch.diag", of(n), UNKNOWN) == "(_, _)"
