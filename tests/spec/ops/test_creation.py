"""New tensors against torch."""

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
from tests.spec.ops.tensors import dtypes, shapes, tensors

maybe_dtype = st.one_of(st.none(), dtypes)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
@given(shape=shapes, dtype=maybe_dtype)
@settings(max_examples=20)
def test_sizes_are_given_one_by_one_or_in_a_list(name: str, shape: tuple[int, ...], dtype: torch.dtype | None) -> None:
    check_exact(f"torch.{name}", *shape, dtype=dtype)
    check_exact(f"torch.{name}", shape, dtype=dtype)
    check_exact(f"torch.{name}", size=shape)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
@given(tensor=tensors(), dtype=maybe_dtype)
@settings(max_examples=15)
def test_what_is_like_a_tensor_has_its_shape(name: str, tensor: torch.Tensor, dtype: torch.dtype | None) -> None:
    check_exact(f"torch.{name}_like", tensor, dtype=dtype)


@given(tensors(), shapes, maybe_dtype)
def test_what_is_new_has_the_dtype_of_its_tensor(
    tensor: torch.Tensor, shape: tuple[int, ...], dtype: torch.dtype | None
) -> None:
    for name in ("new_zeros", "new_ones", "new_empty"):
        check_exact(f"Tensor.{name}", tensor, *shape, dtype=dtype)
        check_exact(f"Tensor.{name}", tensor, shape)
    check_exact("Tensor.new_full", tensor, shape, 1, dtype=dtype)
    check_exact("Tensor.new_tensor", tensor, [1, 2], dtype=dtype)


@given(shapes, st.sampled_from([True, 1, 0.5]), maybe_dtype)
def test_a_filled_tensor_has_the_dtype_of_its_value(
    shape: tuple[int, ...], value: float, dtype: torch.dtype | None
) -> None:
    check_exact("torch.full", shape, value, dtype=dtype)
    check_exact("torch.full_like", torch.ones(shape), value, dtype=dtype)


@given(st.integers(-4, 4), st.integers(-4, 4), st.integers(-2, 3))
@settings(max_examples=100)
def test_a_range_of_ints_has_as_many_elements_as_steps_fit(start: int, end: int, step: int) -> None:
    check_exact("torch.arange", end)
    check_exact("torch.arange", start, end)
    check_exact("torch.arange", start, end, step)
    check_exact("torch.arange", start=start, end=end, step=step)


@given(st.sampled_from([0.0, 0.25, 1]), st.sampled_from([1.0, 2.5, 4]), st.sampled_from([0.5, 0.3, 1]))
def test_a_range_of_floats(start: float, end: float, step: float) -> None:
    check_exact("torch.arange", start, end, step)


@given(st.integers(0, 5), st.integers(0, 5), maybe_dtype)
def test_matrices_ranges_and_windows(n: int, m: int, dtype: torch.dtype | None) -> None:
    check_exact("torch.eye", n, dtype=dtype)
    check_exact("torch.eye", n, m, dtype=dtype)
    check_exact("torch.linspace", 0, 1, n, dtype=dtype)
    check_exact("torch.logspace", 0, 1, n, dtype=dtype)
    check_exact("torch.hann_window", n)
    check_exact("torch.hamming_window", n, False)


def make(name: str, *args: Value, **kwargs: Value) -> str:
    operation = find_op(name)
    assert operation is not None
    result = operation.apply(Context(), args, kwargs)
    assert isinstance(result, TensorType)
    return str(result)


b, n = Dim.name("b"), Dim.name("n")


def test_named_sizes_stay() -> None:
    assert make("torch.zeros", b, n + 1) == "(b, n+1)"
    assert make("torch.arange", n) == "(n,)"
    assert make("torch.arange", Dim.of(1), n, Dim.of(2)) == make("torch.arange", n - 1, step=Dim.of(2), start=Dim.of(0))


def test_unknown_sizes_are_fresh_and_an_unknown_list_is_of_unknown_length() -> None:
    assert make("torch.zeros", b, UNKNOWN) == "(b, _)"
    assert make("torch.zeros", UNKNOWN) == "(...)"
    assert make("torch.arange", UNKNOWN) == "(_,)"


def test_negative_sizes_are_refused() -> None:
    check_refused("torch.zeros", 2, -1)
    check_refused("torch.eye", -1)
