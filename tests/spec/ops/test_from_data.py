"""Tensors from data against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.op import find_op
from shaped.spec.values import UNKNOWN, Many, TensorType, Value
from tests.spec.ops.against_torch import check, check_exact
from tests.spec.ops.tensors import dtypes, sizes, tensors

maybe_dtype = st.one_of(st.none(), dtypes)
nested = st.recursive(
    st.sampled_from([True, 2, 0.5]), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=6
)


@given(nested, maybe_dtype)
@settings(max_examples=150)
def test_nested_lists_make_a_tensor_of_their_shape(data: Any, dtype: torch.dtype | None) -> None:
    check_exact("torch.tensor", data, dtype=dtype)
    check_exact("torch.as_tensor", data, dtype=dtype)


@given(tensors(), maybe_dtype)
def test_a_tensor_of_a_tensor_has_its_shape(tensor: torch.Tensor, dtype: torch.dtype | None) -> None:
    check_exact("torch.as_tensor", tensor, dtype=dtype)


@given(st.lists(sizes, min_size=1, max_size=3))
def test_the_old_constructors_take_sizes_or_data(shape: list[int]) -> None:
    for name in ("Tensor", "FloatTensor", "LongTensor", "BoolTensor"):
        check_exact(f"torch.{name}", *shape)
        check(f"torch.{name}", shape)
    check_exact("torch.FloatTensor", [0.5] * len(shape))
    check_exact("torch.FloatTensor", [[1, 2]] * len(shape))


def make(name: str, *args: Value, **kwargs: Value) -> str:
    operation = find_op(name)
    assert operation is not None
    result = operation.apply(Context(), args, kwargs)
    assert isinstance(result, TensorType)
    return str(result)


n = Dim.name("n")


def test_a_list_that_is_not_counted_makes_an_axis_of_its_length() -> None:
    assert make("torch.tensor", Many(0.5, n)) == "(n,)"
    assert make("torch.tensor", Many((Dim.of(1), Dim.of(2)), n)) == "(n, 2)"
    assert make("torch.tensor", (UNKNOWN, UNKNOWN)) == "(2, ...)"


def test_lists_of_different_lengths_are_refused() -> None:
    operation = find_op("torch.tensor")
    assert operation is not None
    for data, message in [
        (((0.5,), (0.5, 0.5)), r"tensor: data\[1\] is a list of 2, where data\[0\] is a list of 1"),
        (((0.5, 0.5), 0.5), r"data\[1\] is a number, where data\[0\] is a list of 2"),
        ((((0.5,), (0.5,)), ((0.5,), (0.5, 0.5))), r"data\[1\]\[1\] is a list of 2, where data\[1\]\[0\] is a list"),
        ((((0.5,),), ((0.5, 0.5),)), r"data\[1\]\[0\] is a list of 2, where data\[0\]\[0\] is a list of 1"),
    ]:
        with pytest.raises(ShapeError, match=message):
            operation.apply(Context(), [data], {})
