"""Joining tensors: cat, stack and their kin."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType
from tests.spec.ops.against_torch import check_exact, check_refused
from tests.spec.ops.shapes import apply, b, c, d, floats, n, of, shape_of, some, t

axes = st.integers(-4, 3)


@st.composite
def parts(draw: st.DrawFn) -> list[torch.Tensor]:
    """Tensors of nearly one shape; some flat and empty, some of another dtype or rank."""
    shape = draw(some(0, 3))
    found = [floats(shape)]
    for _ in range(draw(st.integers(0, 2))):
        other = list(shape)
        if other and draw(st.booleans()):
            other[draw(st.integers(0, len(other) - 1))] = draw(st.sampled_from([1, 2, 3]))
        dtype = draw(st.sampled_from([torch.float32, torch.float32, torch.int64, torch.float16]))
        found.append(floats(draw(st.sampled_from([other, other, other, [0], [2, 1]])), dtype))
    return found


@given(parts(), axes)
def test_tensors_are_joined_along_an_axis_as_in_torch(tensors: list[torch.Tensor], axis: int) -> None:
    check_exact("torch.cat", tensors, axis)
    check_exact("torch.concat", tensors, dim=axis)


@given(parts(), axes)
def test_tensors_are_joined_along_a_new_axis_as_in_torch(tensors: list[torch.Tensor], axis: int) -> None:
    check_exact("torch.stack", tensors, axis)


@given(parts())
def test_tensors_are_joined_along_fixed_axes_as_in_torch(tensors: list[torch.Tensor]) -> None:
    for name in ("torch.hstack", "torch.vstack", "torch.dstack", "torch.column_stack"):
        check_exact(name, tensors)
    for name in ("torch.atleast_1d", "torch.atleast_2d", "torch.atleast_3d"):
        check_exact(name, tensors)
        check_exact(name, tensors[0])
    check_exact("torch.block_diag", *tensors)


@given(st.lists(some(0, 1), min_size=1, max_size=3), st.sampled_from(["ij", "xy"]))
@settings(max_examples=50)
def test_grids_are_those_of_torch(shapes: list[list[int]], indexing: str) -> None:
    tensors = [floats(shape) for shape in shapes]
    check_exact("torch.meshgrid", tensors, indexing=indexing)
    check_exact("torch.meshgrid", *tensors)
    check_exact("torch.cartesian_prod", *[tensor for tensor in tensors if tensor.dim()] or [floats([2])])


@given(st.integers(0, 5), st.integers(1, 4), st.booleans())
@settings(max_examples=40)
def test_combinations_are_counted_as_in_torch(size: int, count: int, replaced: bool) -> None:
    check_exact("torch.combinations", torch.ones(size), count, replaced)


def test_sizes_along_the_axis_add_up() -> None:
    assert shape_of("torch.cat", (of(b, t, d), of(b, n, d)), 1) == "(b, n+t, d)"
    assert shape_of("torch.cat", (of(b, 1, d), of(b, t, d)), dim=-2) == "(b, t+1, d)"
    assert shape_of("torch.cat", (of(b, c), of(b, c)), axis=1) == "(b, 2*c)"


def test_lists_that_are_not_counted_are_joined() -> None:
    assert shape_of("torch.cat", Many(of(b, 2, d), n), 1) == "(b, 2*n, d)"
    assert shape_of("torch.stack", Many(of(b, d), n), 1) == "(b, n, d)"
    assert shape_of("torch.stack", Many(of(b, d), Context().fresh()), 1) == "(b, _, d)"
    assert shape_of("torch.cat", UNKNOWN, 1) == "(...)"


def test_a_tensor_that_was_not_followed_leaves_the_other_axes_known() -> None:
    assert shape_of("torch.cat", (of(b, t, d), UNKNOWN), 1) == "(b, _+t, d)"
    assert shape_of("torch.stack", (of(b, t), UNKNOWN)) == "(2, b, t)"
    assert shape_of("torch.cat", (of(b, t, d), of(b, t, d)), UNKNOWN) == "(_, _, _)"


def test_an_unknown_size_takes_the_known_one() -> None:
    u = Context().fresh()
    assert shape_of("torch.cat", (of(u, 3), of(b, 4)), 1) == "(b, 7)"


def test_axes_behind_unknown_ones_are_joined() -> None:
    x = TensorType(Shape.of(Pack("x"), d))
    assert shape_of("torch.cat", (x, x), -1) == "(*x, 2*d)"
    assert shape_of("torch.stack", (x, x), -1) == "(*x, d, 2)"


def test_sizes_that_differ_elsewhere_are_a_fault() -> None:
    with pytest.raises(ShapeError) as fault:
        apply("torch.cat", (of(b, 64, 32, 32), of(b, 64, 31, 31)), 1)
    assert str(fault.value) == "cat: (b, 64, 32, 32), (b, 64, 31, 31): sizes 32 and 31 of axis 2 differ"


def test_other_ranks_are_a_fault() -> None:
    with pytest.raises(ShapeError, match="3 axes against 2 axes"):
        apply("torch.cat", (of(b, t, d), of(b, d)), 1)
    with pytest.raises(ShapeError, match="a tensor without axes"):
        apply("torch.cat", (of(), of()))
    check_refused("torch.stack", [torch.ones(2, 3), torch.ones(3, 2)])


def test_a_grid_is_as_large_as_its_axes() -> None:
    w = Dim.name("w")
    assert shape_of("torch.meshgrid", of(t), of(w), indexing="ij") == "(t, w) (t, w)"
    assert shape_of("torch.meshgrid", (of(t), of(w)), indexing="xy") == "(w, t) (w, t)"
