"""Repeating elements: expand, repeat, tile, repeat_interleave, one_hot."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import DtypeError, ShapeError
from shaped.spec.context import Context
from shaped.spec.dtypes import FLOAT32
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import Outcome, check, check_exact, check_refused
from tests.spec.ops.shapes import apply, b, d, floats, h, n, of, shape_of, some, t


@st.composite
def expansions(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    shape = draw(some())
    sizes = [draw(st.sampled_from([-1, size, size, 3 if size == 1 else size, 5])) for size in shape]
    return shape, [draw(st.sampled_from([1, 2, 2, -1])) for _ in range(draw(st.integers(0, 2)))] + sizes


@given(expansions())
def test_axes_of_size_one_are_stretched_as_in_torch(pair: tuple[list[int], list[int]]) -> None:
    shape, sizes = pair
    check_exact("Tensor.expand", floats(shape), sizes)
    check_exact("torch.broadcast_to", floats(shape), sizes)
    if sizes:
        check_exact("Tensor.expand", floats(shape), *sizes)


@given(some(0, 3), some(0, 3))
def test_tensors_expand_to_each_other_as_in_torch(shape: list[int], other: list[int]) -> None:
    check_exact("Tensor.expand_as", floats(shape), floats(other))
    check_exact("torch.broadcast_tensors", floats(shape), floats(other))
    check_exact("torch.broadcast_shapes", tuple(shape), tuple(other))


@given(some(), some(1, 5, st.sampled_from([1, 1, 2, 3, 0, -1])))
def test_tensors_are_repeated_as_in_torch(shape: list[int], counts: list[int]) -> None:
    check_exact("Tensor.repeat", floats(shape), *counts)
    check_exact("Tensor.tile", floats(shape), *counts)
    check_exact("torch.tile", floats(shape), counts)


@given(some(1), st.integers(-1, 3), st.integers(-4, 3))
def test_elements_are_repeated_in_place_as_in_torch(shape: list[int], count: int, axis: int) -> None:
    check_exact("torch.repeat_interleave", torch.ones(shape), count, axis)
    check_exact("torch.repeat_interleave", torch.ones(shape), count)


@given(some(1), st.integers(-4, 3), some(0, 2, st.sampled_from([1, 2, 3])))
@settings(max_examples=50)
def test_a_count_for_each_element_fits_or_is_refused(shape: list[int], axis: int, counts: list[int]) -> None:
    outcome = check("torch.repeat_interleave", torch.ones(shape), torch.ones(counts, dtype=torch.int64), axis)
    assert outcome is not Outcome.MISSED


@given(some(0, 3), st.sampled_from([5, 1]))
@settings(max_examples=30)
def test_one_hot_adds_an_axis_of_classes(shape: list[int], classes: int) -> None:
    check_exact("torch.nn.functional.one_hot", torch.zeros(shape, dtype=torch.int64), classes)
    check("torch.nn.functional.one_hot", torch.zeros(shape, dtype=torch.int64))


def test_named_sizes_are_expanded() -> None:
    assert shape_of("Tensor.expand", of(1, t, d), b, -1, -1) == "(b, t, d)"
    assert shape_of("Tensor.expand", of(b, 1, t, d), b, n, t, d) == "(b, n, t, d)"
    assert shape_of("Tensor.repeat", of(t, d), b, 1, 1) == "(b, t, d)"
    assert shape_of("torch.repeat_interleave", of(b, t, d), h, dim=1) == "(b, h*t, d)"


def test_a_size_that_was_not_followed_keeps_what_is_known() -> None:
    u = Context().fresh()
    assert shape_of("Tensor.expand", of(b, 1), UNKNOWN, t) == "(b, t)"
    assert shape_of("Tensor.expand", of(u, 1), b, t) == "(b, t)"
    assert shape_of("Tensor.expand", TensorType(Shape.of(Pack("x"))), b, t) == "(b, t)"
    assert shape_of("Tensor.repeat", of(t), UNKNOWN, 1) == "(_, t)"
    assert shape_of("torch.nn.functional.one_hot", of(b, t)) == "(b, t, _)"
    assert shape_of("torch.nn.functional.one_hot", of(b, t), n) == "(b, t, n)"


def test_an_axis_that_cannot_be_stretched_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("Tensor.expand", of(b, 1, 3), b, 4, 5)
    assert str(fault.value) == "expand: (b, 1, 3) to (b, 4, 5): size 3 of axis -1 cannot become 5"


def test_class_indices_are_integers() -> None:
    with pytest.raises(DtypeError):
        apply("torch.nn.functional.one_hot", of(b).with_dtype(FLOAT32), 10)
    check_refused("torch.nn.functional.one_hot", torch.zeros(3), 4)
