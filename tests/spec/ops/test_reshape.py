"""Regrouping elements: view, reshape, flatten, unflatten."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import D, H, apply, b, c, d, floats, n, of, shape_of, some, t


@st.composite
def regroupings(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A shape and another one that mostly has as many elements, with -1 here and there."""
    shape = draw(some(size=st.sampled_from([0, 1, 2, 3, 4, 6])))
    rest = torch.Size(shape).numel()
    target: list[int] = []
    for _ in range(draw(st.integers(0, 3))):
        target.append(draw(st.sampled_from([i for i in range(1, rest + 1) if rest % i == 0] or [0])))
        rest = rest // target[-1] if target[-1] else 0
    target.append(rest)
    for i in range(len(target)):
        target[i] = draw(st.sampled_from([target[i]] * 8 + [-1, -1, -2, 0, 5]))
    return shape, target


@given(regroupings())
def test_a_shape_with_as_many_elements_is_taken_and_another_one_refused(pair: tuple[list[int], list[int]]) -> None:
    shape, target = pair
    x = floats(shape)
    check_exact("Tensor.view", x, *target)
    check_exact("Tensor.reshape", x, target)
    check_exact("torch.reshape", x, target)


@given(some(), st.integers(-4, 3), st.integers(-4, 3))
def test_flatten_merges_axes_as_in_torch(shape: list[int], start: int, end: int) -> None:
    check_exact("torch.flatten", floats(shape), start, end)
    check_exact("Tensor.flatten", floats(shape), start_dim=start)
    check_exact("torch.ravel", floats(shape))


@given(some(1), st.integers(-4, 3), some(0, 3, st.sampled_from([-1, 1, 2, 3])))
def test_unflatten_splits_an_axis_as_in_torch(shape: list[int], axis: int, sizes: list[int]) -> None:
    check_exact("torch.unflatten", floats(shape), axis, sizes)


@given(some(), some())
def test_the_shape_of_another_tensor_is_taken_if_it_fits(shape: list[int], other: list[int]) -> None:
    check_exact("Tensor.view_as", floats(shape), floats(other))
    check_exact("Tensor.reshape_as", floats(shape), floats(other))


@given(some(0, 3), st.sampled_from([torch.float16, torch.float32, torch.float64]))
@settings(max_examples=40)
def test_bytes_can_be_read_as_another_dtype(shape: list[int], dtype: torch.dtype) -> None:
    for other in (torch.int16, torch.int32, torch.int64):
        check_exact("Tensor.view", floats(shape, dtype), other)


@given(some(0, 3, st.sampled_from([1, 2, 3])))
@settings(max_examples=40)
def test_a_complex_number_has_two_parts(shape: list[int]) -> None:
    check_exact("torch.view_as_complex", floats(shape))


@given(some(0, 3), some(0, 3))
@settings(max_examples=30)
def test_strides_take_any_sizes_of_as_many_axes(sizes: list[int], strides: list[int]) -> None:
    check_exact("torch.as_strided", torch.empty(200), sizes, strides)
    check_exact("Tensor.resize_", torch.empty(3), *sizes)


def test_a_head_split_assumes_that_the_heads_divide_the_width() -> None:
    context = Context()
    assert shape_of("Tensor.view", of(b, t, D), b, t, H, D // H, context=context) == "(b, t, n_head, d_model//n_head)"
    assert context.assumptions == ["d_model % n_head == 0"]


def test_merged_heads_have_the_width_again() -> None:
    context = Context()
    assert shape_of("Tensor.view", of(b, t, H, D // H), b, t, D, context=context) == "(b, t, d_model)"
    assert context.assumptions == ["d_model % n_head == 0"]


def test_minus_one_is_what_the_other_sizes_leave() -> None:
    assert shape_of("Tensor.view", of(b, t, d), b, -1) == "(b, d*t)"
    assert shape_of("Tensor.view", of(b, t, d), -1, d) == "(b*t, d)"
    assert shape_of("Tensor.view", of(b, t, D), b, t, H, -1) == "(b, t, n_head, d_model//n_head)"
    assert shape_of("Tensor.reshape", of(b, c, 4, 4), b, c * 16) == "(b, 16*c)"


def test_an_unknown_size_is_what_the_other_sizes_leave() -> None:
    assert shape_of("Tensor.view", of(b, t, 12), b, t, UNKNOWN, 4) == "(b, t, 3, 4)"
    context = Context()
    u, v = context.fresh(), context.fresh()
    assert shape_of("Tensor.view", of(b, u, 12), b, v, 4) == "(b, _, 4)"


def test_an_unknown_rank_takes_the_sizes_that_are_asked_for() -> None:
    unknown = TensorType(Shape.of(Pack("x")))
    assert shape_of("Tensor.view", unknown, b, -1, 3) == "(b, _, 3)"
    assert shape_of("Tensor.view", of(b, t), UNKNOWN) == "(...)"
    assert shape_of("torch.flatten", TensorType(Shape.of(b, Pack("x"))), 1) == "(b, _)"
    assert shape_of("torch.flatten", TensorType(Shape.of(Pack("x"), 3, 4)), -2) == "(*x, 12)"


def test_a_size_list_may_come_as_one_argument() -> None:
    assert shape_of("Tensor.view", of(b, 6), (b, 2, 3)) == shape_of("Tensor.view", of(b, 6), b, 2, 3) == "(b, 2, 3)"
    assert shape_of("Tensor.reshape", of(b, 6), shape=(b, 2, 3)) == "(b, 2, 3)"


def test_too_few_elements_are_a_fault_with_both_numbers() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("Tensor.view", of(n, 8), 16, 32, 8)
    assert str(fault.value) == "view: (n, 8) as (16, 32, 8): 8*n elements against 4096"


def test_a_wrong_size_for_a_layer_is_a_fault_with_the_size_that_fits() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("Tensor.view", of(b, 16, 5, 5), b, 120)
    assert str(fault.value) == "view: (b, 16, 5, 5) as (b, 120): 400*b elements against 120*b"
    assert fault.value.hint == "view(b, 400)?"


def test_two_open_sizes_are_a_fault() -> None:
    for name in ("Tensor.view", "torch.unflatten"):
        with pytest.raises(ShapeError, match="only one size can be -1"):
            apply(name, of(b, 12), *((-1, -1) if name == "Tensor.view" else (1, (-1, -1))))
    check_exact("Tensor.view", floats([2, 6]), -1, -1)


def test_a_batch_is_not_cut_to_make_a_row_fit() -> None:
    with pytest.raises(ShapeError, match=r"400\*b elements are not divisible by 120"):
        apply("Tensor.view", of(b, 16, 5, 5), -1, 120)


def test_pairs_of_rows_and_even_widths_are_assumed() -> None:
    assert shape_of("Tensor.view", of(b, 8), -1, 16) == "(b//2, 16)"
    assert shape_of("Tensor.reshape", of(b, t, d), b, t, -1, 2) == "(b, t, d//2, 2)"


def test_a_size_that_never_divides_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="not divisible by 2"):
        apply("Tensor.view", of(2 * n + 1), -1, 2)


def test_unflatten_names_the_axis_and_its_size() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.unflatten", of(b, 12), 1, (5, -1))
    assert str(fault.value) == "unflatten: dim 1 of (b, 12) into (5, -1): 12 is not divisible by 5"
    assert shape_of("torch.unflatten", of(b, 3 * D), -1, (3, D)) == "(b, 3, d_model)"


def test_views_of_one_quantity_stay_equal() -> None:
    q = Dim.quantity("q")
    assert apply("Tensor.view", of(b, q * 4), b, q, 4) == apply("Tensor.view", of(b, q * 4), b, -1, 4)


def test_sizes_that_were_not_followed_may_be_none_where_nothing_else_fits() -> None:
    context = Context()
    rows, columns = context.fresh(), context.fresh()
    x = TensorType.of(rows, columns)
    assert apply("Tensor.reshape", x, rows, columns, 3) == TensorType.of(rows, columns, 3)
    with pytest.raises(ShapeError, match=r"12\*_ elements"):
        apply("Tensor.reshape", TensorType.of(rows, 12), rows, 3, 5)
