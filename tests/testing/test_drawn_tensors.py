"""Drawn tensors have their shape and dtype, meet every special point, and shrink to zeros and small whole numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from torch import Tensor

from shaped.testing import tensors
from shaped.testing.drawn_tensors import MOST_DRAWN_ENTRIES, kind_of_dtype
from shaped.testing.special import (
    LARGE,
    MOST_AXES,
    SPECIAL_POINTS,
    TINY,
    Application,
    Rows,
    SpecialPoint,
    points_of,
)

DTYPES = [
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn),
    *(torch.int8, torch.int32, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128),
]
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
# Only drawing: a law about what is drawn needs no shrinking.
DRAW = settings(max_examples=1500, phases=[Phase.generate], database=None, derandomize=True)
SHRINK = settings(max_examples=1500, phases=[Phase.generate, Phase.shrink], database=None, derandomize=True)


def drawn(strategy: st.SearchStrategy[Tensor], condition: Callable[[Tensor], object]) -> Tensor:
    """A tensor that meets the condition, as it was drawn first."""
    return find(strategy, lambda x: bool(condition(x)), settings=DRAW)


def shrunk(strategy: st.SearchStrategy[Tensor], condition: Callable[[Tensor], object]) -> Tensor:
    """The simplest tensor that meets the condition."""
    return find(strategy, lambda x: bool(condition(x)), settings=SHRINK)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_has_the_shape_and_dtype_asked_for(dtype: torch.dtype) -> None:
    @settings(max_examples=40)
    @given(st.data(), SHAPES)
    def law(data: st.DataObject, shape: tuple[int, ...]) -> None:
        x = data.draw(tensors(shape, dtype))
        assert x.shape == shape
        assert x.dtype == dtype
        assert x.stride() == torch.empty(shape).stride()

    law()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_entries_are_finite_unless_infinities_are_asked_for(dtype: torch.dtype) -> None:
    @settings(max_examples=100)
    @given(tensors((3, 4), dtype))
    def law(x: Tensor) -> None:
        wide = x.to(torch.complex128 if dtype.is_complex else torch.float64)
        assert wide.isfinite().all()

    law()


def test_a_row_of_minus_infinity_and_a_single_one_are_drawn_on_request() -> None:
    strategy = tensors((3, 4), minus_infinity=True)
    drawn(strategy, lambda x: x.isneginf().all(1).any() and not x.isneginf().all())
    drawn(strategy, lambda x: x.isneginf().any(1).all() and not x.isneginf().all(1).any())


POINTS: list[tuple[str, torch.dtype, Callable[[Tensor], object]]] = [
    ("zeros", torch.float32, lambda x: (x == 0).all()),
    ("a row of zeros", torch.float32, lambda x: (x == 0).all(1).sum() == 1),
    ("a column of zeros", torch.float32, lambda x: (x == 0).all(0).sum() == 1),
    ("constant rows", torch.float32, lambda x: (x == x[:, :1]).all() and x.unique().numel() == 3),
    ("one constant row", torch.float32, lambda x: ((x == x[:, :1]).all(1) & (x[:, 0] != 0)).sum() == 1),
    ("equal entries", torch.float32, lambda x: x.unique().numel() == 1 and x[0, 0] != 0),
    ("all different", torch.float32, lambda x: x.unique().numel() == x.numel()),
    ("large", torch.float32, lambda x: (x.abs() >= LARGE / 8).sum() > x.numel() / 2),
    ("one large row", torch.float32, lambda x: (x.abs() >= LARGE / 8).any(1).sum() == 1),
    ("tiny", torch.float32, lambda x: ((x != 0) & (x.abs() <= 4 * TINY)).sum() > x.numel() / 2),
    ("repeated indices", torch.int64, lambda x: (x == x[:, :1]).all() and x[0, 0] != 0),
    ("different indices", torch.int64, lambda x: all(row.unique().numel() == row.numel() for row in x)),
    ("a fully masked row", torch.bool, lambda x: x.any(1).sum() == 2),
    ("a row that masks nothing", torch.bool, lambda x: x.all(1).sum() == 1),
    ("equal complex rows", torch.complex64, lambda x: (x == x[:, :1]).all() and (x.imag != 0).all()),
]


@pytest.mark.parametrize(("dtype", "condition"), [point[1:] for point in POINTS], ids=[point[0] for point in POINTS])
def test_every_special_point_is_drawn(dtype: torch.dtype, condition: Callable[[Tensor], object]) -> None:
    drawn(tensors((3, 4), dtype), condition)


def test_without_special_points_only_plain_entries_are_drawn() -> None:
    @given(tensors((3, 4), special=False))
    def law(x: Tensor) -> None:
        assert x.abs().max() <= 4
        assert torch.equal(x * 8, (x * 8).round())

    law()


def test_there_is_no_special_point_without_a_tensor_of_its_kind() -> None:
    kinds = {kind_of_dtype(dtype) for dtype in DTYPES}
    assert {kind for point in SPECIAL_POINTS for kind in point.kinds} == kinds
    assert all(points_of(kind, minus_infinity=False) for kind in kinds)


@pytest.mark.parametrize("point", SPECIAL_POINTS, ids=lambda point: point.name)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 4), (2, 3, 4), (2, 0)], ids=str)
def test_a_special_point_changes_only_its_rows(point: SpecialPoint, shape: tuple[int, ...]) -> None:
    before = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape) + 2
    for axis, rows in itertools.product(range(MOST_AXES), Rows):
        x = before.clone()
        changed = Application(point, axis, rows)(x)
        assert torch.equal(x, before), "the drawn tensor is left as it is"
        assert changed.shape == before.shape
        along = -1 - axis % max(1, len(shape))
        if len(shape) > 1 and before.numel() and not point.of_whole and rows is not Rows.ALL:
            same = (changed == before).all(along).flatten()
            others, changed_row = (same[1:], same[0]) if rows is Rows.FIRST else (same[:-1], same[-1])
            assert others.all()
            assert not changed_row


# Shrinking


def test_an_entry_that_is_not_zero_shrinks_to_one() -> None:
    assert shrunk(tensors((2,)), lambda x: (x != 0).any()).tolist() == [0, 1]


def test_a_sum_shrinks_to_one_whole_number() -> None:
    assert shrunk(tensors((2, 2)), lambda x: x.sum() > 1).tolist() == [[0, 0], [0, 2]]


def test_a_fraction_shrinks_to_a_half() -> None:
    assert shrunk(tensors((2,)), lambda x: (x != x.round()).any()).tolist() == [0, 0.5]


def test_a_negative_entry_shrinks_to_minus_one() -> None:
    assert shrunk(tensors((2,)), lambda x: (x < 0).any()).tolist() == [0, -1]
    assert shrunk(tensors((2,), torch.int64), lambda x: (x < 0).any()).tolist() == [0, -1]


def test_a_large_entry_shrinks_to_the_only_one() -> None:
    assert shrunk(tensors((2, 2)), lambda x: (x > 100).any()).tolist() == [[0, 0], [0, LARGE]]


def test_an_imaginary_part_shrinks_to_i() -> None:
    assert shrunk(tensors((2,), torch.complex64), lambda x: (x.imag != 0).any()).tolist() == [0, 1j]


def test_a_true_entry_shrinks_to_one() -> None:
    assert shrunk(tensors((2,), torch.bool), lambda x: x.any()).tolist() == [False, True]


def test_a_tensor_too_large_to_be_drawn_entry_by_entry_shrinks_to_one_entry() -> None:
    x = shrunk(tensors((20, 20)), lambda x: (x != 0).any())
    assert x.numel() > MOST_DRAWN_ENTRIES
    assert (int((x != 0).sum()), float(x.max())) == (1, 1.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64], ids=str)
def test_a_large_tensor_is_as_varied_as_a_small_one(dtype: torch.dtype) -> None:
    assert not shrunk(tensors((100,), dtype), lambda x: True).any()
    least = 2 if dtype is torch.bool else 5
    drawn(tensors((100,), dtype), lambda x: len(set(x.tolist())) >= least)


# Options


@given(tensors((5,), torch.int64, low=2, high=3))
def test_integers_stay_between_their_bounds(x: Tensor) -> None:
    assert ((x >= 2) & (x <= 3)).all()


@given(tensors((100,), torch.int64, low=-7, high=-3))
def test_integers_of_a_large_tensor_stay_between_their_bounds(x: Tensor) -> None:
    assert ((x >= -7) & (x <= -3)).all()


@settings(max_examples=50)
@given(st.sampled_from([(3, 4), (10, 20)]).flatmap(lambda shape: tensors(shape, elements=st.integers(1, 9))))
def test_given_elements_are_the_only_entries(x: Tensor) -> None:
    assert ((x >= 1) & (x <= 9) & (x == x.round())).all()


def test_a_strategy_of_shapes_is_drawn() -> None:
    x = shrunk(tensors(st.tuples(st.integers(1, 3), st.integers(1, 3))), lambda x: x.shape[1] > 1)
    assert x.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 1}, r"low and high are for integer tensors, not for torch.float32: give elements="),
        ({"dtype": torch.int64, "low": 3, "high": 2}, r"there is no torch.int64 from 3 to 2"),
        ({"dtype": torch.uint8, "low": -1}, r"there is no torch.uint8 from -1 to 4"),
        ({"dtype": torch.bool, "minus_infinity": True}, r"minus_infinity is for floating-point tensors"),
        ({"dtype": torch.float8_e4m3fn, "minus_infinity": True}, r"not for torch.float8_e4m3fn"),
    ],
)
def test_options_that_contradict_the_dtype_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tensors((2,), **options)  # type: ignore[arg-type]  # the options are of several types
