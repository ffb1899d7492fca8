"""Reading sizes, flags and numbers, known or not."""

from __future__ import annotations

import pytest

from shaped.errors import ShapeError
from shaped.spec.context import Context
from shaped.spec.dims import Dim
from shaped.spec.dtypes import FLOAT, FLOAT32, INT64, DType
from shaped.spec.ops.options import (
    common_dtype,
    flag,
    is_less,
    never_divides,
    number,
    option_size,
    option_sizes,
    settled,
)
from shaped.spec.values import UNKNOWN, Many, Ratio, TensorType
from tests.spec.ops.modules import H, N


def test_one_int_stands_for_all_axes():
    assert option_sizes(Context(), Dim.of(3), 2) == (Dim.of(3), Dim.of(3))
    assert option_sizes(Context(), (Dim.of(3),), 2) == (Dim.of(3), Dim.of(3))
    assert option_sizes(Context(), (Dim.of(3), N), 2) == (Dim.of(3), N)
    assert option_sizes(Context(), Many(N, Dim.of(2)), 2) == (N, N)
    with pytest.raises(ShapeError, match="pool: stride has 3 values, 2 expected"):
        option_sizes(Context(), (N, N, N), 2, "pool", "stride")


def test_what_was_not_followed_is_a_fresh_size_each():
    first, second = option_sizes(Context(), UNKNOWN, 2)
    assert first.has_unknown
    assert first != second
    assert option_size(Context(), 1.5).has_unknown


def test_settled_options_equal_themselves():
    context = Context()
    kept = settled(context, (UNKNOWN, N), 2)
    assert option_sizes(context, kept, 2) == option_sizes(context, kept, 2)
    assert settled(context, N, 2) == N


@pytest.mark.parametrize(
    "value, expected",
    [(True, True), (False, False), (None, False), (Dim.of(0), False), (Dim.of(2), True), (N, None), (UNKNOWN, None)],
)
def test_flags_have_pythons_truth(value, expected):
    assert flag(value) is expected


@pytest.mark.parametrize(
    "value, expected", [(Dim.of(3), 3), (1.5, 1.5), (Ratio(Dim.of(1), Dim.of(2)), 0.5), (N, None), (True, None)]
)
def test_numbers_are_known_or_none(value, expected):
    assert number(value) == expected


def test_the_common_dtype_is_what_all_may_be():
    assert common_dtype(TensorType.of(dtype=FLOAT), None, TensorType.of(dtype=FLOAT32)) == FLOAT32
    assert common_dtype(TensorType.of(dtype=FLOAT32), TensorType.of(dtype=INT64)) == FLOAT32
    assert common_dtype(TensorType.of(dtype=FLOAT), TensorType.of(dtype=DType.named("half"))).single == "float16"


def test_comparisons_are_certain_for_every_size_or_do_not_hold():
    context = Context()
    assert is_less(context, 2, 3)
    assert is_less(context, H - 1, H)
    assert not is_less(context, H, 3)
    assert never_divides(context, 5, 2)
    assert never_divides(context, 5, 0)
    assert not never_divides(context, H, 2)
    assert not never_divides(context, 2 * H, 2)
