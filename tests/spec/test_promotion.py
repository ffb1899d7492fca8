"""Type promotion against torch's own."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import DtypeError
from shaped.spec.context import Context
from shaped.spec.dims import ONE, Dim
from shaped.spec.dtypes import ANY, ANY_DTYPE, FLOAT, FLOAT32, INT64, DType
from shaped.spec.promotion import as_mean, common_device, promote, promote_names, requested, result_type
from shaped.spec.values import UNKNOWN, Ratio, TensorType, Value

NAMES = sorted(ANY)
COMMON = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def torch_promotion(a: str, b: str) -> str | None:
    try:
        return str(torch.promote_types(getattr(torch, a), getattr(torch, b))).removeprefix("torch.")
    except RuntimeError:
        return None


def test_two_dtypes_promote_as_in_torch() -> None:
    pairs = list(itertools.product(NAMES, NAMES))
    assert {pair: promote_names(*pair) for pair in pairs} == {pair: torch_promotion(*pair) for pair in pairs}


dtypes = st.sampled_from(COMMON)
tensors = st.tuples(dtypes, st.sampled_from([(), (2,)])).map(
    lambda drawn: torch.ones(drawn[1], dtype=getattr(torch, drawn[0]))
)
numbers = st.sampled_from([True, 2, 0.5])


def as_value(operand: torch.Tensor | float) -> Value:
    if isinstance(operand, torch.Tensor):
        dtype = DType.named(str(operand.dtype).removeprefix("torch."))
        return TensorType.of(*operand.shape, dtype=dtype)
    return Dim.of(operand) if type(operand) is int else operand


@given(tensors, st.one_of(tensors, numbers))
def test_result_type_is_torchs(a: torch.Tensor, b: torch.Tensor | float) -> None:
    expected = str(torch.result_type(a, b)).removeprefix("torch.")
    assert result_type(as_value(a), as_value(b)) == DType.named(expected)


@given(tensors, st.one_of(tensors, numbers))
def test_an_unknown_rank_allows_what_each_rank_gives(a: torch.Tensor, b: torch.Tensor | float) -> None:
    expected = str(torch.result_type(a, b)).removeprefix("torch.")
    known = as_value(a)
    assert isinstance(known, TensorType)
    unknown = Context().unknown_tensor(known.dtype)
    assert expected in result_type(unknown, as_value(b)).names
    assert expected in result_type(UNKNOWN, as_value(b)).names


def test_a_quotient_of_ints_counts_as_a_float() -> None:
    assert result_type(TensorType.of(2, dtype=INT64), Ratio(Dim.name("d"), Dim.of(2))) == FLOAT32


def test_promotion_of_sets_is_the_set_of_promotions() -> None:
    half_or_single = DType(frozenset(["float16", "float32"]))
    assert promote(half_or_single, DType.named("bfloat16")) == FLOAT32
    assert promote(half_or_single, INT64) == half_or_single


def test_the_mean_of_integers_is_a_fault_and_of_any_number_leaves_the_floats() -> None:
    with pytest.raises(DtypeError, match="mean: int64 has no mean"):
        as_mean("mean", INT64)
    assert as_mean("mean", DType(FLOAT.names | {"int64"})) == FLOAT


def test_a_dtype_that_was_not_followed_may_be_any() -> None:
    assert requested(UNKNOWN, FLOAT32) == ANY_DTYPE
    assert requested(None, FLOAT32) == FLOAT32
    assert requested(INT64, FLOAT32) == INT64


def test_a_tensor_without_axes_does_not_decide_the_device() -> None:
    on_gpu = TensorType(TensorType.of(ONE).shape, FLOAT32, "cuda")
    scalar = TensorType(TensorType.of().shape, FLOAT32, "cpu")
    assert common_device([on_gpu, scalar]) == "cuda"
    assert common_device([on_gpu, TensorType(on_gpu.shape, FLOAT32, "cpu")]) is None


def test_many_tensors_of_unknown_rank_take_no_time() -> None:
    context = Context()
    floats = [context.unknown_tensor(FLOAT32) for _ in range(60)]
    assert result_type(*floats) == FLOAT32
    assert result_type(*floats, context.unknown_tensor(INT64)) == ANY_DTYPE
