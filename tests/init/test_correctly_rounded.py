"""`ln` and `cos` are the float64 nearest to the true value, checked against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaped.init import correctly_rounded
from shaped.init.correctly_rounded import cos, ln
from shaped.init.sampling import DIVISOR, TWO_PI


def nearest(function: Callable[[mpmath.mpf], mpmath.mpf], x: float) -> float:
    """The float64 nearest to `function(x)`."""
    with mpmath.workprec(1200):
        return float(function(mpmath.mpf(x)))


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_ln_is_correctly_rounded(x: float) -> None:
    assert ln(x) == nearest(mpmath.log, x)


@given(st.integers(0, 2**32 - 1))
def test_ln_is_correctly_rounded_where_samples_are_drawn(bits: int) -> None:
    u = (bits + 1) / DIVISOR
    assert ln(u) == nearest(mpmath.log, u)


@given(st.integers(-1000, 1000))
def test_ln_is_correctly_rounded_next_to_1(steps: int) -> None:
    x = 1 + steps * 2.0**-53
    assert ln(x) == nearest(mpmath.log, x)


@given(st.floats(-1023.9, 1023.9))
def test_cos_is_correctly_rounded(x: float) -> None:
    assert cos(x) == nearest(mpmath.cos, x)


@given(st.integers(0, 2**32 - 1))
def test_cos_is_correctly_rounded_where_samples_are_drawn(bits: int) -> None:
    y = TWO_PI * (bits / 2**32)
    assert cos(y) == nearest(mpmath.cos, y)


@pytest.mark.parametrize("quarter_turns", range(1, 650, 3))
def test_cos_is_correctly_rounded_where_it_is_nearest_to_0(quarter_turns: int) -> None:
    x = quarter_turns * math.pi / 2
    for neighbour in (math.nextafter(x, 0), x, math.nextafter(x, math.inf)):
        assert cos(neighbour) == cos(-neighbour) == nearest(mpmath.cos, neighbour)


def test_what_is_exact_is_exact() -> None:
    assert math.copysign(1, ln(1.0)) == 1.0
    assert ln(1.0) == 0.0
    assert cos(0.0) == cos(-0.0) == 1.0


@pytest.mark.parametrize("x", [0.0, -1.0, math.inf, math.nan])
def test_ln_of_what_has_none_is_an_error(x: float) -> None:
    with pytest.raises(ValueError, match=r"ln: .* is not a finite number above 0"):
        ln(x)


@pytest.mark.parametrize("x", [1024.0, -1e9, math.inf, math.nan])
def test_cos_of_what_its_error_is_not_bounded_for_is_an_error(x: float) -> None:
    with pytest.raises(ValueError, match=r"cos: .* is not between -1024 and 1024"):
        cos(x)


def test_the_precision_grows_until_the_rounding_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    # With 16 bits to begin with, no first attempt is enough.
    monkeypatch.setattr(correctly_rounded, "FIRST_PRECISION", 16)
    for step in range(1, 200):
        assert ln(step / 200) == nearest(mpmath.log, step / 200)
        assert cos(step / 32) == nearest(mpmath.cos, step / 32)


@pytest.mark.parametrize("precision", [40, 160, 200, 641])
def test_the_error_of_the_series_is_within_its_bound(precision: int) -> None:
    # The largest exponent and number of turns have the largest error.
    bound = correctly_rounded.error_in_units(precision)
    with mpmath.workprec(precision + 100):
        unit = mpmath.mpf(2) ** -precision
        for x in (5e-324, 1.7e308, 0.3, 1.4999):
            error = abs(correctly_rounded.ln_in_units(x, precision) * unit - mpmath.log(mpmath.mpf(x)))
            assert error < bound * unit
        for x in (1023.9, -1023.9, 3.0, 1e-9):
            error = abs(correctly_rounded._cos_in_units(x, precision) * unit - mpmath.cos(mpmath.mpf(x)))
            assert error < bound * unit
