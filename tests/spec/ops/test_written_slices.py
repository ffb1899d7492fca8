"""Tensors of which a part is replaced, against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.shapes import b, n, of, shape_of


@given(st.integers(-2, 1), st.integers(0, 1))
def test_a_selected_part_is_replaced(dim: int, index: int) -> None:
    x = torch.ones(3, 4)
    check_exact("torch.select_scatter", x, x.select(dim, index), dim, index)


@given(st.integers(-2, 1), st.integers(-3, 3), st.integers(-3, 6), st.integers(1, 3))
def test_a_slice_is_replaced(dim: int, start: int, end: int, step: int) -> None:
    x = torch.ones(3, 4)
    part = x[start:end:step] if dim in (0, -2) else x[:, start:end:step]
    check_exact("torch.slice_scatter", x, part, dim, start, end, step)


@given(st.integers(-2, 3))
def test_a_diagonal_is_replaced(offset: int) -> None:
    x = torch.ones(3, 4)
    check_exact("torch.diagonal_scatter", x, x.diagonal(offset), offset)


@pytest.mark.parametrize("name", ["select_scatter", "slice_scatter", "diagonal_scatter"])
def test_a_part_of_another_shape_is_refused(name: str) -> None:
    arguments = (0, 0) if name == "select_scatter" else (0,)
    check_refused(f"torch.{name}", torch.ones(3, 4), torch.ones(5), *arguments)


def test_strides_are_not_followed_and_the_shape_stays() -> None:
    check("torch.as_strided_scatter", torch.ones(3, 4), torch.ones(2, 2), (2, 2), (1, 2))
    assert shape_of("torch.as_strided_scatter", of(b, n), of(2), (2,), (1,)) == "(b, n)"
