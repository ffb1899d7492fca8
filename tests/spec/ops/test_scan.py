"""Running sums and differences against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spec.ops.against_torch import check_exact, check_refused
from tests.spec.ops.tensors import FLOATS, REAL, axes, filled_shapes, tensors


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
@given(tensor=tensors(filled_shapes, REAL), dim=axes)
@settings(max_examples=25)
def test_a_running_value_keeps_the_shape(name: str, tensor: torch.Tensor, dim: int) -> None:
    check_exact(f"torch.{name}", tensor, dim)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@given(tensor=tensors(filled_shapes.filter(bool)), dim=axes)
@settings(max_examples=25)
def test_a_running_sum_in_place_and_in_another_dtype(name: str, tensor: torch.Tensor, dim: int) -> None:
    check_exact(f"Tensor.{name}_", tensor.clone(), dim)
    check_exact(f"torch.{name}", tensor, dim, dtype=torch.float64)


@given(tensors(filled_shapes), st.integers(0, 3), axes)
@settings(max_examples=60)
def test_differences_shorten_an_axis(tensor: torch.Tensor, order: int, dim: int) -> None:
    check_exact("torch.diff", tensor, order, dim)


@given(tensors(filled_shapes), axes, st.booleans())
@settings(max_examples=60)
def test_differences_with_more_in_front(tensor: torch.Tensor, dim: int, after: bool) -> None:
    check_exact("torch.diff", tensor, 1, dim, tensor, tensor if after else None)


@given(tensors(dtype=FLOATS), axes)
def test_areas_drop_an_axis(tensor: torch.Tensor, dim: int) -> None:
    check_exact("torch.trapezoid", tensor, dim=dim)


@given(tensors(dtype=FLOATS), axes)
def test_renormalized_slices_keep_the_shape(tensor: torch.Tensor, dim: int) -> None:
    check_exact("torch.renorm", tensor, 2, dim, 1.0)


def test_an_axis_that_is_not_there_is_refused() -> None:
    check_refused("torch.cumsum", torch.ones(2, 3), 2)
    check_refused("torch.diff", torch.ones(()))
