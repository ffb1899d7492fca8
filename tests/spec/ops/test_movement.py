"""Reordering, adding and dropping axes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.ops.movement import ambiguous_squeeze
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check_exact
from tests.spec.ops.shapes import apply, b, d, floats, of, shape_of, some, t

axes = st.integers(-4, 3)
BATCH = Pack("batch")


@given(some(), axes, axes)
def test_two_axes_are_swapped_as_in_torch(shape: list[int], i: int, j: int) -> None:
    for name in ("torch.transpose", "Tensor.swapaxes", "Tensor.transpose_"):
        check_exact(name, floats(shape), i, j)


@given(some(0, 3))
@settings(max_examples=40)
def test_transposes_without_arguments_agree_with_torch(shape: list[int]) -> None:
    for name in ("Tensor.T", "Tensor.mT", "Tensor.H", "Tensor.mH", "Tensor.t", "torch.adjoint"):
        check_exact(name, floats(shape))


@given(some(1), st.data())
def test_axes_are_permuted_as_in_torch(shape: list[int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    order = [data.draw(st.sampled_from([i] * 6 + [i - len(shape), 0])) for i in order]
    check_exact("Tensor.permute", floats(shape), *order)
    check_exact("torch.permute", floats(shape), order)
    check_exact("torch.permute", floats(shape), order[1:])


@given(some(), axes, axes, axes, axes)
def test_axes_are_moved_as_in_torch(shape: list[int], i: int, j: int, k: int, m: int) -> None:
    check_exact("torch.movedim", floats(shape), i, j)
    check_exact("torch.moveaxis", floats(shape), [i, j], [k, m])


@given(some(), axes, axes)
def test_axes_of_size_one_come_and_go_as_in_torch(shape: list[int], i: int, j: int) -> None:
    x = floats(shape)
    check_exact("torch.unsqueeze", x, i)
    check_exact("torch.squeeze", x)
    check_exact("torch.squeeze", x, i)
    check_exact("torch.squeeze", x, (i, j))


@given(some(), axes, axes, st.integers(-3, 3))
def test_flips_and_turns_agree_with_torch(shape: list[int], i: int, j: int, k: int) -> None:
    x = floats(shape)
    check_exact("torch.flip", x, [i])
    check_exact("Tensor.flip", x, i, j)
    check_exact("torch.fliplr", x)
    check_exact("torch.flipud", x)
    check_exact("torch.roll", x, k)
    check_exact("torch.rot90", x, k, [i, j])


@given(some(1), axes, axes)
def test_a_roll_takes_a_shift_for_each_axis(shape: list[int], i: int, j: int) -> None:
    check_exact("torch.roll", floats(shape), 1, i)
    check_exact("torch.roll", floats(shape), (1, 2), (i, j))
    check_exact("torch.roll", floats(shape), (1, 2), (i,))


def test_axes_behind_unknown_ones_are_swapped() -> None:
    assert shape_of("torch.transpose", TensorType(Shape.of(BATCH, t, d)), -1, -2) == "(*batch, d, t)"
    assert shape_of("Tensor.mT", TensorType(Shape.of(BATCH, t, d))) == "(*batch, d, t)"
    assert shape_of("torch.unsqueeze", TensorType(Shape.of(BATCH, t, d)), -1) == "(*batch, t, d, 1)"
    assert shape_of("torch.unsqueeze", TensorType(Shape.of(b, BATCH)), 1) == "(b, 1, *batch)"


def test_an_unknown_axis_keeps_the_rank() -> None:
    assert shape_of("torch.transpose", of(b, t, d), UNKNOWN, 1) == "(_, _, _)"
    assert shape_of("torch.unsqueeze", of(b, t), UNKNOWN) == "(_, _, _)"
    assert shape_of("torch.permute", of(b, t), (UNKNOWN, 0)) == "(_, _)"


def test_a_permutation_tells_an_unknown_rank() -> None:
    assert shape_of("Tensor.permute", TensorType(Shape.of(b, Pack("x"))), 1, 2, 0) == "(_, _, b)"


def test_a_permutation_of_too_few_axes_is_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("Tensor.permute", of(b, t, d), 0, 2)
    assert str(fault.value) == "permute: (b, t, d): 2 dims given for 3 axes"


def test_squeeze_drops_ones_and_keeps_names() -> None:
    assert shape_of("torch.squeeze", of(b, 1, d)) == "(b, d)"
    assert shape_of("torch.squeeze", of(b, 1, d), 1) == "(b, d)"
    assert shape_of("torch.squeeze", of(b, 1, d), 2) == "(b, 1, d)"


def test_squeeze_of_an_unknown_size_loses_the_rank_there_only() -> None:
    u = Context().fresh()
    assert shape_of("torch.squeeze", of(b, u, d)) == "(b, ..., d)"
    assert shape_of("torch.squeeze", of(b, u, d), 1) == "(b, ..., d)"
    assert shape_of("torch.squeeze", of(b, u, d), 0) == "(b, _, d)"


def test_a_batch_that_squeeze_may_drop_is_named() -> None:
    assert ambiguous_squeeze(Context(), of(b, 1)) == (b,)
    assert ambiguous_squeeze(Context(), of(b, 8)) == ()
    assert ambiguous_squeeze(Context(), of(8, 1)) == ()
    assert ambiguous_squeeze(Context(), of(b + 1, 1)) == ()
    assert ambiguous_squeeze(Context(), of(Dim.quantity("q"), 1)) == ()


def test_the_in_place_forms_are_declared() -> None:
    check_exact("Tensor.unsqueeze_", torch.ones(2, 3), 1)
    check_exact("Tensor.t_", torch.ones(2, 3))
    check_exact("Tensor.squeeze_", torch.ones(2, 1, 3), 1)
