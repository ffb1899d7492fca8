"""Reading and writing at indices held in tensors."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32, INT64
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import Outcome, check, check_exact
from tests.spec.ops.shapes import apply, b, d, n, nearly, of, shape_of, some, t

axes = st.integers(-4, 3)
indices = st.sampled_from([torch.int64] * 5 + [torch.int32, torch.float32])
INDEX = of(b, n).with_dtype(INT64)


def near(shape: list[int]) -> st.SearchStrategy[list[int]]:
    """Sizes around those of a shape, or a shape of another rank; none is empty, torch is lax about those."""
    around = st.tuples(*(st.sampled_from([size, size, max(size - 1, 1), size + 1]) for size in shape)).map(list)
    return st.one_of(around, around, around, nearly(shape))


@given(some(1), axes, indices, st.data())
def test_elements_are_gathered_and_scattered_as_in_torch(
    shape: list[int], axis: int, dtype: torch.dtype, data: st.DataObject
) -> None:
    x, index = torch.ones(shape), torch.zeros(data.draw(near(shape)), dtype=dtype)
    source = torch.ones(data.draw(near(list(index.shape))))
    check_exact("torch.gather", x, axis, index)
    check_exact("torch.take_along_dim", x, index, axis)
    for name in ("torch.scatter_add", "torch.scatter"):
        check_exact(name, x, axis, index, source)
    check_exact("torch.scatter_reduce", x, axis, index, source, "sum")
    check_exact("Tensor.scatter_", x, axis, index, value=2.0)


@given(some(1), axes, indices, some(0, 2), st.data())
def test_slices_are_read_and_written_as_in_torch(
    shape: list[int], axis: int, dtype: torch.dtype, places: list[int], data: st.DataObject
) -> None:
    x, index = torch.ones(shape), torch.zeros(places, dtype=dtype)
    source = list(shape)
    if -len(shape) <= axis < len(shape):
        source[axis] = index.numel()
    check_exact("torch.index_select", x, axis, index)
    check_exact("torch.index_fill", x, axis, index, 1.0)
    for name in ("torch.index_add", "torch.index_copy"):
        check_exact(name, x, axis, index, torch.ones(data.draw(nearly(source)) if len(source) > 1 else source))
    check_exact("torch.take", x, index)


@given(some(0, 3), st.sampled_from([torch.bool] * 4 + [torch.int64]), st.data())
@settings(max_examples=60)
def test_masks_choose_as_in_torch(shape: list[int], dtype: torch.dtype, data: st.DataObject) -> None:
    mask = torch.zeros(data.draw(nearly(shape)), dtype=dtype)
    assert check("torch.masked_select", torch.ones(shape), mask) is not Outcome.MISSED
    check_exact("torch.masked_scatter", torch.ones(shape), mask, torch.ones(100))


@given(some(0, 3))
@settings(max_examples=30)
def test_the_places_of_what_is_not_zero_have_a_column_for_each_axis(shape: list[int]) -> None:
    check("torch.nonzero", torch.ones(shape))
    check("torch.nonzero", torch.ones(shape), as_tuple=True)
    check("torch.argwhere", torch.ones(shape))
    assert shape_of("torch.nonzero", of(*shape)) == f"(_, {len(shape)})"


def test_a_gather_has_the_shape_of_its_index() -> None:
    assert shape_of("torch.gather", of(b, t), 1, INDEX) == "(b, n)"
    assert shape_of("torch.index_select", of(b, t, d), 1, of(n).with_dtype(INT64)) == "(b, n, d)"
    assert shape_of("Tensor.scatter_add_", of(b, t), 1, INDEX, of(b, n)) == "(b, t)"
    assert shape_of("torch.index_select", of(b, t), 1, UNKNOWN) == "(b, _)"
    assert shape_of("torch.index_select", TensorType(Shape.of(Pack("x"), t)), -1, of(n)) == "(*x, n)"


def test_an_index_may_be_longer_along_its_own_axis() -> None:
    check_exact("torch.gather", torch.ones(2, 3), 1, torch.zeros(2, 5, dtype=torch.int64))
    check_exact("torch.scatter_add", torch.ones(2, 3), 1, torch.zeros(2, 5, dtype=torch.int64), torch.ones(2, 5))
    assert shape_of("torch.gather", of(b, 3), 1, of(b, 5).with_dtype(INT64)) == "(b, 5)"


def test_an_index_that_may_be_empty_is_not_judged() -> None:
    index = TensorType(Shape((Context().fresh(), Context().fresh())), FLOAT32)
    assert shape_of("torch.gather", of(5), 0, index.with_dtype(INT64)) == "(_, _)"
    check_exact("torch.gather", torch.ones(5), 0, torch.zeros(2, 0, dtype=torch.uint8))


def test_an_index_of_other_rank_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.gather", of(b, t), 1, of(b).with_dtype(INT64))
    assert str(fault.value) == "gather: (b, t), (b,): 2 and 1 axes, equal numbers expected"


def test_an_index_that_is_longer_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="the index has size 5 along dim 0, more than 4"):
        apply("torch.gather", of(4, t), 1, of(5, n).with_dtype(INT64))


def test_an_index_of_floats_is_a_fault() -> None:
    with pytest.raises(DtypeError) as fault:
        apply("torch.gather", of(b, t), 1, of(b, n).with_dtype(FLOAT32))
    assert "float32 is no dtype for indices, int64 is" in str(fault.value)


def test_a_source_of_other_length_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="the source has size 4 along dim 0, not 3"):
        apply("Tensor.index_add_", of(b, d), 0, of(3).with_dtype(INT64), of(4, d))
