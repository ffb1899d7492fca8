"""One-sided slopes: right where they settle, and unsettled where there is none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.verify.difference_quotient import one_sided

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.floats(-3, 3), st.sampled_from([1, -1]))
def test_a_smooth_function_has_its_derivative_within_the_error(x: float, side: int) -> None:
    found = one_sided(lambda t: math.sin(2 * (x + t)), 0.1 * side)
    assert found.settled
    assert abs(found.value - 2 * math.cos(2 * x)) <= 10 * found.error + 1e-12


@pytest.mark.parametrize("distance", [1e-2, 1e-4])
def test_a_kink_beside_the_point_is_passed_by(distance: float) -> None:
    found = one_sided(lambda t: max(t - distance, 0.0) * 100)
    assert not found.settled or found.value == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda t: math.sqrt(max(t, 0.0)),
        lambda t: t * math.log(t) if t > 0 else 0.0,
        lambda t: abs(t) ** 0.9,
        lambda t: math.floor(t) if t < 0 else 1.0,
        lambda t: math.nan if t else 0.0,
    ],
)
def test_an_infinite_slope_or_a_jump_does_not_settle(function: Callable[[float], float]) -> None:
    assert not all(one_sided(function, step).settled for step in (0.1, -0.1))


def test_a_domain_that_ends_inside_of_the_first_step_is_no_obstacle() -> None:
    found = one_sided(lambda t: math.log(0.05 + t) if t > -0.05 else math.nan, -0.1)
    assert found.settled
    assert abs(found.value - 20) < 1e-4
