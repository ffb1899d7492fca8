"""The numbers that code mentions are found where a gradient may depend on them."""

from __future__ import annotations

from typing import Any

from shaped.verify.constants import constants, takes_logarithms

LOW, HIGH = -0.5, 7.0


def _bounds(x: Any) -> Any:
    return x.clamp(LOW, HIGH)


def test_literals_globals_and_those_of_called_functions_are_found() -> None:
    delta = 0.25

    def huber(x: Any) -> Any:
        return _bounds(x) + delta * (3.5 if x else 20)

    assert constants((huber,)) == (0.25, -0.5, 3.5, 7.0, 20.0)


def test_booleans_infinities_and_huge_numbers_are_no_places_to_try() -> None:
    assert constants((lambda x: (True, float("inf"), 1e300, x),)) == ()


def test_functions_of_logarithms_are_told() -> None:
    assert takes_logarithms((lambda x: x.logsumexp(-1),))
    assert not takes_logarithms((lambda x: x.exp(),))
