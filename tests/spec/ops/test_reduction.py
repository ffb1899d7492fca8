"""Reductions against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, TensorType, Value
from tests.spec.ops.against_torch import check_exact, check_refused
from tests.spec.ops.tensors import FLOATS, REAL, axes, filled_shapes, operands, shapes, tensors

ONE_AXIS = ["max", "min", "median", "nanmedian", "mode", "argmax", "argmin", "prod", "all", "any", "logsumexp"]
SEVERAL_AXES = ["sum", "nansum", "mean", "nanmean", "amax", "amin", "all", "any", "logsumexp"]
WITHOUT_AXES = ["sum", "prod", "mean", "max", "min", "median", "argmax", "all", "any", "amax", "std", "var", "aminmax"]
several = st.lists(axes, max_size=2).map(tuple)


@pytest.mark.parametrize("name", ONE_AXIS)
@given(tensor=tensors(filled_shapes, REAL), dim=axes, keepdim=st.booleans())
@settings(max_examples=25)
def test_one_axis_is_reduced_as_in_torch(name: str, tensor: torch.Tensor, dim: int, keepdim: bool) -> None:
    check_exact(f"torch.{name}", tensor, dim, keepdim)


@pytest.mark.parametrize("name", SEVERAL_AXES)
@given(tensor=tensors(filled_shapes), dims=several, keepdim=st.booleans())
@settings(max_examples=25)
def test_several_axes_are_reduced_as_in_torch(
    name: str, tensor: torch.Tensor, dims: tuple[int, ...], keepdim: bool
) -> None:
    if name != "logsumexp" or dims:
        check_exact(f"torch.{name}", tensor, dims, keepdim)


@pytest.mark.parametrize("name", WITHOUT_AXES)
@given(tensor=tensors(filled_shapes))
@settings(max_examples=15)
def test_all_axes_are_reduced_as_in_torch(name: str, tensor: torch.Tensor) -> None:
    check_exact(f"torch.{name}", tensor)


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
@given(tensor=tensors(), dtype=st.sampled_from(FLOATS))
@settings(max_examples=15)
def test_a_requested_dtype_is_the_results(name: str, tensor: torch.Tensor, dtype: torch.dtype) -> None:
    check_exact(f"torch.{name}", tensor, dtype=dtype)


@given(operands())
@settings(max_examples=30)
def test_the_maximum_of_two_tensors_broadcasts(pair: list[torch.Tensor]) -> None:
    check_exact("torch.max", *pair)
    check_exact("Tensor.min", pair[0], other=pair[1])


@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
@given(tensor=tensors(filled_shapes), dims=st.one_of(st.none(), axes, several), keepdim=st.booleans())
@settings(max_examples=25)
def test_deviations_in_all_their_forms(
    name: str, tensor: torch.Tensor, dims: int | tuple[int, ...] | None, keepdim: bool
) -> None:
    check_exact(f"torch.{name}", tensor, dims, correction=0, keepdim=keepdim)
    check_exact(f"torch.{name}", tensor, False)
    if dims is not None:
        check_exact(f"torch.{name}", tensor, dims, True, keepdim)


@given(tensors(filled_shapes), st.one_of(st.none(), axes), st.booleans())
def test_counts_and_both_extremes(tensor: torch.Tensor, dim: int | None, keepdim: bool) -> None:
    check_exact("torch.count_nonzero", tensor, dim)
    check_exact("torch.aminmax", tensor, dim=dim, keepdim=keepdim)


@pytest.mark.parametrize("name", ["max", "argmin", "amax", "median"])
def test_an_axis_without_elements_has_no_extreme(name: str) -> None:
    check_refused(f"torch.{name}", torch.ones(2, 0), 1)


def test_the_mean_of_integers_is_refused() -> None:
    check_refused("Tensor.mean", torch.ones(3, dtype=torch.int64))


def test_an_axis_that_is_not_there_is_refused() -> None:
    check_refused("torch.sum", torch.ones(2, 3), 2)


def test_an_axis_named_twice_is_refused() -> None:
    check_refused("torch.sum", torch.ones(2, 3), (0, -2))


def reduce(name: str, *args: Value) -> Value:
    operation = find_op(name)
    assert operation is not None
    return operation.apply(Context(), args, {})


b, d = Dim.name("b"), Dim.name("d")


def test_an_unknown_axis_leaves_the_number_of_axes() -> None:
    result = reduce("torch.sum", TensorType.of(b, 3, d), Context().fresh())
    assert isinstance(result, TensorType)
    assert result.shape.rank == 2
    assert not result.shape.is_known


def test_whether_axes_stay_may_be_unknown() -> None:
    result = reduce("torch.sum", TensorType.of(b, d), Dim.of(0), UNKNOWN)
    assert isinstance(result, TensorType)
    assert result.shape.rank is None


@given(shapes)
def test_an_unknown_axis_of_max_may_be_another_tensor(shape: tuple[int, ...]) -> None:
    assert reduce("torch.max", TensorType.of(*shape), UNKNOWN) is UNKNOWN
