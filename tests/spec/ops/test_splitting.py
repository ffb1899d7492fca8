"""Cutting tensors: chunk, split, unbind, select, narrow, unfold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import D, apply, b, d, floats, n, of, shape_of, some, t

axes = st.integers(-4, 3)
sizes = st.sampled_from([0, 1, 2, 3, 4, 6])
places = st.lists(st.integers(-3, 6), max_size=3)


@given(some(size=sizes), st.integers(-1, 5), axes)
def test_pieces_of_equal_size_are_those_of_torch(shape: list[int], count: int, axis: int) -> None:
    check_exact("torch.chunk", floats(shape), count, axis)
    check_exact("torch.split", floats(shape), count, axis)
    check_exact("torch.tensor_split", floats(shape), count, axis)


@given(some(1), st.data())
def test_pieces_of_given_sizes_are_those_of_torch(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    first = data.draw(st.integers(0, shape[axis]))
    parts = data.draw(st.sampled_from([[first, shape[axis] - first], [first, 1], [shape[axis]]]))
    check_exact("torch.split", floats(shape), parts, axis)
    check_exact("torch.split_with_sizes", floats(shape), parts, axis)


@given(some(), places, axes)
def test_cuts_at_indices_are_those_of_torch(shape: list[int], cuts: list[int], axis: int) -> None:
    check_exact("torch.tensor_split", floats(shape), cuts, axis)


@given(some(), places, st.integers(0, 3))
def test_cuts_along_fixed_axes_are_those_of_torch(shape: list[int], cuts: list[int], count: int) -> None:
    for name in ("torch.hsplit", "torch.vsplit", "torch.dsplit"):
        check_exact(name, floats(shape), cuts)
        check_exact(name, floats(shape), count)


@given(some(size=sizes), axes, st.integers(-4, 4))
def test_slices_along_an_axis_are_those_of_torch(shape: list[int], axis: int, index: int) -> None:
    check_exact("torch.unbind", floats(shape), axis)
    check_exact("torch.select", floats(shape), axis, index)


@given(some(size=sizes), axes, st.integers(-3, 4), st.integers(-1, 4))
def test_a_stretch_of_an_axis_is_that_of_torch(shape: list[int], axis: int, start: int, length: int) -> None:
    check_exact("torch.narrow", floats(shape), axis, start, length)


@given(some(1, size=sizes), axes, st.integers(-1, 3), st.integers(-1, 3))
def test_windows_along_an_axis_are_those_of_torch(shape: list[int], axis: int, size: int, step: int) -> None:
    check_exact("Tensor.unfold", floats(shape), axis, size, step)


def test_three_parts_of_a_triple_width_have_the_width() -> None:
    for call in (
        apply("torch.chunk", of(b, t, 3 * D), 3, -1),
        apply("torch.split", of(b, t, 3 * D), D, dim=2),
        apply("torch.split", of(b, t, 3 * D), (D, D, D), dim=-1),
    ):
        assert call == (of(b, t, D),) * 3


def test_chunks_of_a_named_size_assume_that_it_divides() -> None:
    context = Context()
    assert shape_of("torch.chunk", of(b, d), 2, 1, context=context) == "(b, d//2) (b, d//2)"
    assert context.assumptions == ["d % 2 == 0"]


def test_chunks_of_an_odd_size_are_not_assumed_to_be_equal() -> None:
    assert shape_of("torch.chunk", of(b, 2 * d + 1), 2, 1) == "(b, _) (b, _)"


def test_pieces_that_cannot_be_counted_have_one_type() -> None:
    pieces = apply("torch.split", of(b, t, d), n, dim=1)
    assert isinstance(pieces, Many)
    assert str(pieces.length) == "ceil(t/n)"
    assert str(pieces.element) == "(b, _, d)"
    assert shape_of("torch.unbind", of(b, t), 1) == "t times (b,)"


def test_pieces_of_unknown_number_keep_the_other_axes() -> None:
    assert shape_of("torch.chunk", of(b, d), UNKNOWN, 1) == "_ times (b, _)"
    assert shape_of("torch.split", of(b, d), UNKNOWN, 1) == "_ times (b, _)"
    assert shape_of("torch.unbind", of(b, d), UNKNOWN) == "_ times (_,)"


def test_an_unknown_rank_keeps_the_axes_at_its_ends() -> None:
    x = TensorType(Shape.of(Pack("x"), 3 * D))
    assert shape_of("torch.chunk", x, 3, -1) == "(*x, d_model) (*x, d_model) (*x, d_model)"
    assert shape_of("torch.unbind", TensorType(Shape.of(3, Pack("x")))) == "(*x) (*x) (*x)"


def test_pieces_that_do_not_add_up_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.split", of(b, 10), (3, 3, 3), 1)
    assert str(fault.value) == "split: (b, 10): the pieces 3, 3, 3 sum to 9, dim 1 has size 10"


def test_windows_over_time_are_counted() -> None:
    assert shape_of("Tensor.unfold", of(b, t + 3), 1, 4, 1) == "(b, t, 4)"
    with pytest.raises(ShapeError, match="a window of 4 does not fit dim 1 of size 3"):
        apply("Tensor.unfold", of(b, 3), 1, 4, 1)


def test_an_index_out_of_range_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="dim 1 has size 3, index 3 is out of range"):
        apply("torch.select", of(b, 3), 1, 3)
    assert shape_of("torch.select", of(b, t), 1, Dim.quantity("q")) == "(b,)"
    assert shape_of("torch.narrow", of(b, t), 1, 2, n) == "(b, n)"
