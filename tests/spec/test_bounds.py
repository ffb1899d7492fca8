from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.bounds import is_nonnegative, lower_bound
from shaped.spec.dims import Dim, maximum, minimum
from tests.spec.sizes import NAMED, dims, small_values

a, b, t, k = (Dim.name(name) for name in "abtk")
q = Dim.quantity("q")


@settings(max_examples=300, deadline=None)
@given(dims(NAMED, 5))
def test_no_value_is_below_the_lower_bound(dim: Dim) -> None:
    low = lower_bound(dim)
    if low is None:
        return
    for values in small_values(NAMED, top=5):
        try:
            assert dim.evaluate(values) >= low, values
        except ZeroDivisionError:
            continue


@settings(max_examples=300, deadline=None)
@given(dims(NAMED, 4), st.lists(dims(NAMED, 3), max_size=2))
def test_what_is_proved_to_be_nonnegative_is_so_where_the_known_sizes_are(dim: Dim, known: list[Dim]) -> None:
    if not is_nonnegative(dim, tuple(known)):
        return
    for values in small_values(NAMED, top=5):
        try:
            if all(fact.evaluate(values) >= 0 for fact in known):
                assert dim.evaluate(values) >= 0, values
        except ZeroDivisionError:
            continue


@pytest.mark.parametrize(
    "dim, low",
    [
        (a * b - a, 0),
        (2 * a + b - 3, 0),
        (a - b, None),
        ((t - 1) // 4, 0),
        ((t - 9) // 4, -2),
        ((t - 3) // k, -2),
        (minimum(t, 3), 1),
        (q + 1, None),
        (t // q, None),
        (Dim.of(-4), -4),
    ],
)
def test_the_lower_bound_is_the_least_that_names_give(dim: Dim, low: int | None) -> None:
    assert lower_bound(dim) == low


@pytest.mark.parametrize(
    "dim",
    [
        t - t // 2,
        t - k * (t // k),
        k * (t // k) + k - 1 - t,
        t - 2 * (t // 4) - t // 2,
        t - minimum(t, 3),
        minimum(t, 64) - minimum(t, 32),
        maximum(t, k) - t,
        b * (t - t // 2),
    ],
)
def test_floors_and_minima_are_proved_by_elimination(dim: Dim) -> None:
    assert is_nonnegative(dim)
    assert not is_nonnegative(-dim - 1)


def test_known_sizes_are_combined() -> None:
    assert is_nonnegative(t - 3, known=(t - k, k - 5))
    assert is_nonnegative(2 * t - 2 * k, known=(t - k,))
    assert not is_nonnegative(t - 3, known=(k - 5,))


def test_a_floor_is_not_more_than_its_bound() -> None:
    assert not is_nonnegative(4 * (t // 4) - t, known=(k,))
    assert not is_nonnegative(t - 4 * (t // 4) - 1, known=(k,))
