"""Sorting and searching against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import TensorType
from tests.spec.ops.against_torch import check, check_exact, check_refused
from tests.spec.ops.tensors import FLOATS, axes, filled_shapes, tensors


@pytest.mark.parametrize("name", ["sort", "argsort"])
@given(tensor=tensors(filled_shapes), dim=axes)
@settings(max_examples=30)
def test_sorting_keeps_the_shape(name: str, tensor: torch.Tensor, dim: int) -> None:
    check_exact(f"torch.{name}", tensor, dim)
    check_exact(f"torch.{name}", tensor, dim=dim, descending=True, stable=True)
    check_exact("torch.msort", tensor)


@pytest.mark.parametrize("name", ["topk", "kthvalue"])
@given(tensor=tensors(filled_shapes), k=st.integers(0, 5), dim=axes)
@settings(max_examples=60)
def test_as_many_as_there_are_can_be_taken(name: str, tensor: torch.Tensor, k: int, dim: int) -> None:
    # kthvalue of a complex scalar is the scalar, of any other complex tensor an error: a quirk that no rule follows.
    assume(tensor.ndim or not tensor.is_complex())
    check_exact(f"torch.{name}", tensor, k, dim)


@given(tensors(filled_shapes, FLOATS), tensors(filled_shapes, FLOATS), st.booleans())
@settings(max_examples=60)
def test_positions_have_the_shape_of_the_values(sequence: torch.Tensor, values: torch.Tensor, out_int32: bool) -> None:
    check_exact("torch.searchsorted", sequence, values, out_int32=out_int32)
    check_exact("torch.searchsorted", sequence, 0.5)
    check_exact("torch.bucketize", values, sequence, out_int32=out_int32)
    check_exact("torch.isin", values, sequence)


@given(tensors(filled_shapes), st.booleans(), st.booleans(), st.one_of(st.none(), axes))
@settings(max_examples=60)
def test_how_many_are_different_is_not_known(
    tensor: torch.Tensor, inverse: bool, counts: bool, dim: int | None
) -> None:
    check("torch.unique", tensor, True, inverse, counts, dim)
    check("torch.unique_consecutive", tensor, return_inverse=inverse, return_counts=counts, dim=dim)


@given(tensors(filled_shapes), st.integers(0, 4))
def test_counts_have_one_axis(tensor: torch.Tensor, least: int) -> None:
    check("torch.bincount", tensor, None, least)
    check("torch.bincount", tensor, torch.ones(tensor.shape), least)
    check_exact("torch.histc", tensor, 3)


def test_more_than_there_are_cannot_be_taken() -> None:
    check_refused("torch.topk", torch.ones(2, 3), 4)
    check_refused("torch.kthvalue", torch.ones(2, 3), 4)


def test_the_k_largest_of_a_named_size() -> None:
    operation = find_op("torch.topk")
    assert operation is not None
    b, k = Dim.name("b"), Dim.name("k")
    values, indices = operation.apply(Context(), [TensorType.of(b), k], {})  # type: ignore[misc]  # a pair
    assert str(values) == str(indices) == "(k,)"
    with pytest.raises(ShapeError, match=r"topk: .*k is b\+1, axis 0 has size b"):
        operation.apply(Context(), [TensorType.of(b), b + 1], {})
