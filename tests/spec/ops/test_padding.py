"""`pad` in all modes, and patches."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shaped.errors import ShapeError
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from tests.spec.ops.against_torch import check, check_exact
from tests.spec.ops.shapes import apply, b, c, floats, n, of, shape_of, some, t

pair = st.one_of(st.integers(1, 2), st.lists(st.integers(1, 2), min_size=2, max_size=2))
NAME = "torch.nn.functional."


@given(some(), st.lists(st.integers(-3, 3), max_size=6))
def test_constant_padding_takes_any_widths_as_in_torch(shape: list[int], widths: list[int]) -> None:
    check_exact(NAME + "pad", floats(shape), widths)


@given(some(1, 5), st.integers(1, 3), st.data(), st.sampled_from(["reflect", "replicate", "circular"]))
def test_padding_with_elements_takes_the_ranks_of_torch(
    shape: list[int], count: int, data: st.DataObject, mode: str
) -> None:
    widths = data.draw(st.lists(st.integers(0, 3), min_size=2 * count, max_size=2 * count))
    check_exact(NAME + "pad", floats(shape), widths, mode)


@given(some(2, 4, st.integers(2, 5)), pair, pair, st.integers(0, 1), pair)
def test_patches_are_counted_as_in_torch(
    shape: list[int], kernel: object, dilation: object, padding: int, stride: object
) -> None:
    check_exact(NAME + "unfold", torch.ones(shape), kernel, dilation, padding, stride)


@given(st.integers(1, 3), st.integers(2, 5), pair, pair, st.integers(0, 1), pair, st.integers(0, 1))
@settings(max_examples=60)
def test_patches_are_put_back_as_in_torch(
    channels: int, side: int, kernel: object, dilation: object, padding: int, stride: object, more: int
) -> None:
    image = torch.ones(1, channels, side, side + 1)
    try:
        columns = torch.nn.functional.unfold(image, kernel, dilation, padding, stride)  # type: ignore[arg-type]
    except RuntimeError:
        assume(False)
    columns = torch.ones(1, columns.shape[1], columns.shape[2] + more)
    check(NAME + "fold", columns, (side, side + 1), kernel, dilation, padding, stride)
    check_exact(NAME + "fold", columns[0], (side, side + 1), kernel, dilation, padding, stride)


def test_named_sizes_grow_and_shrink() -> None:
    assert shape_of(NAME + "pad", of(b, c, t), (1, 2)) == "(b, c, t+3)"
    assert shape_of(NAME + "pad", of(b, c, t), (n, 0)) == "(b, c, n+t)"
    assert shape_of(NAME + "pad", of(b, c, t), (0, 0, -1, 0)) == "(b, c-1, t)"
    assert shape_of(NAME + "pad", of(b, c, 7, 7), (1, 1, 1, 1), mode="reflect") == "(b, c, 9, 9)"


def test_widths_that_were_not_followed_keep_the_rank() -> None:
    assert shape_of(NAME + "pad", of(b, t), UNKNOWN) == "(_, _)"
    assert shape_of(NAME + "pad", of(b, t), (UNKNOWN, 0)) == "(b, _+t)"
    assert shape_of(NAME + "pad", TensorType(Shape.of(Pack("x"), t)), (1, 1)) == "(*x, t+2)"


def test_faults_say_what_does_not_fit() -> None:
    with pytest.raises(ShapeError) as fault:
        apply(NAME + "pad", of(b, 3), (-2, -2))
    assert str(fault.value) == "pad: (b, 3) by (-2, -2): axis -1 of size 3 would have size -1"
    with pytest.raises(ShapeError, match="the widths are no pairs"):
        apply(NAME + "pad", of(b, 3), (1, 1, 1))
    with pytest.raises(ShapeError, match="mode 'reflect' cannot pad an axis of size 3 by 3"):
        apply(NAME + "pad", of(b, c, 3), (3, 0), mode="reflect")
