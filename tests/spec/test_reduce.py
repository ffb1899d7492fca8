"""Which axes a reduction leaves, above all around axes that were not followed."""

from __future__ import annotations

import pytest

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.reduce import reduced, reject_empty
from shaped.spec.shape import Axis, Pack
from shaped.spec.values import UNKNOWN, Many, TensorType, Value

b, c, d = map(Dim.name, "bcd")
BATCH = Pack("batch")


def left(axes: tuple[Axis | int, ...], dim: Value, keepdim: Value = False) -> str:
    return str(reduced(Context(), "sum", TensorType.of(*axes), dim, keepdim))


def ints(*values: int) -> tuple[Dim, ...]:
    return tuple(map(Dim.of, values))


def test_a_known_axis_beside_a_pack_leaves_the_pack() -> None:
    assert left((BATCH, c, d), Dim.of(-1)) == "(*batch, c)"
    assert left((b, BATCH, d), Dim.of(0)) == "(*batch, d)"
    assert left((b, BATCH, d), ints(0, -1), True) == "(1, *batch, 1)"


def test_an_axis_in_a_pack_leaves_the_axes_that_it_cannot_be() -> None:
    assert left((BATCH, c, d), Dim.of(0)) == "(..., d)"
    assert left((b, BATCH, d), Dim.of(1)) == "(b, ...)"
    assert left((b, BATCH, d), Dim.of(-2)) == "(..., d)"
    assert left((b, c, BATCH), Dim.of(-1)) == "(b, ...)"


def test_all_axes_of_an_unknown_number() -> None:
    assert left((BATCH, d), None) == "()"
    assert left((BATCH, d), None, True) == "(...)"


def test_a_list_of_unknown_length_leaves_nothing_known_but_kept_axes() -> None:
    axes = Many(Context().fresh(), Context().fresh())
    assert left((b, c), axes) == "(...)"
    assert left((b, c), axes, True) == "(_, _)"
    assert left((b, c), UNKNOWN) == "(...)"


def test_an_empty_list_means_no_axis_where_it_does_not_mean_all() -> None:
    shape = reduced(Context(), "all", TensorType.of(b, c), (), empty_is_all=False)
    assert str(shape) == "(b, c)"


def test_an_axis_named_twice_is_a_fault() -> None:
    with pytest.raises(ShapeError, match="dim 1 is named twice"):
        left((b, c), ints(1, -1))


def test_a_size_of_zero_has_no_extreme() -> None:
    with pytest.raises(ShapeError, match="size 0"):
        reject_empty(Context(), "max", TensorType.of(b, 0))
    reject_empty(Context(), "max", TensorType.of(b, 0), Dim.of(0))
