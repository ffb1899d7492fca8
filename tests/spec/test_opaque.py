from __future__ import annotations

from shaped.spec.dims import Dim, Symbol, minimum, product
from shaped.spec.facts import Facts, Status

h, w = Dim.name("h"), Dim.name("w")
q = Dim.quantity("q")


def _large(size: Dim) -> Dim:
    return product([size + Dim.name(f"n{i}") for i in range(7)])


def test_a_size_too_large_to_follow_is_one_unknown_size() -> None:
    large = _large(h)
    assert large.has_unknown
    assert str(large) == "_"
    assert large == _large(h)
    assert large != _large(w)
    assert Facts().compare(large, h).status is Status.OPEN
    assert Facts().compare(large, large).status is Status.PROVED


def test_it_depends_on_the_names_that_it_stands_for() -> None:
    large = _large(h)
    assert Symbol("h") in large.symbols()
    first, second = (large.substitute({Symbol("h"): size}) for size in (w, w + 1))
    assert first != second
    assert first == large.substitute({Symbol("h"): w})
    assert Symbol("h") not in first.symbols()
    assert large.substitute({Symbol("k"): w}) == large


def test_powers_are_bounded() -> None:
    assert (h**4).degree == 4
    assert (h**1000).has_unknown
    assert h**1000 == h**1000
    assert Dim.of(2) ** 10 == 1024
    assert (Dim.of(2) ** 10**9).has_unknown
    assert Dim.of(1) ** 10**9 == 1


def test_numbers_are_bounded() -> None:
    number = Dim.of(10)
    for _ in range(40):
        number = number * number
    assert number.has_unknown


def test_what_is_nested_too_deeply_is_bounded() -> None:
    size = h
    for _ in range(200):
        size = size - (size + w) // q
    assert len(str(size)) < 2000
    least = minimum(*(Dim.quantity(f"n{i}") for i in range(40)))
    assert str(least) == "_"
