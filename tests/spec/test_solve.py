from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.dims import Dim, DimLike, Kind, Symbol
from shaped.spec.facts import solve
from shaped.spec.solve import integer_roots, primitive, two_factor_solutions
from tests.spec.sizes import NAMES, QUANTITY, dims, small_values

A = Symbol("a", low=0)
H = Symbol("h")
a, b, d, h, t = Dim.atom(A), Dim.name("b"), Dim.name("d"), Dim.atom(H), Dim.name("t")
q = Dim.quantity("q")


@pytest.mark.parametrize(
    "left, right, solution",
    [
        (2 * a, 6, Dim.of(3)),
        (2 * a, 5, range(0)),
        (a + 4, 3, range(0)),
        (a + b, d, d - b),
        (2 * a, 2 * b + 4 * d, b + 2 * d),
        (2 * a, 4 * d + 1, range(0)),
        (b * a, b * d + b, d + 1),
        (b * a, d, None),
        (q * a, q * d, None),
        ((a + 2 * 3 - 7) // 2 + 1, 112, range(223, 225)),
        ((a + 2 * 1 - 3) // 1 + 1, 14, Dim.of(14)),
        ((a - 3) // 2 + 1, -7, range(0)),
        (512 * (a // 32) ** 2, 25088, range(224, 256)),
        (512 * (a // 32), 100, range(0)),
        ((3 * a + 1) // 7, 2, range(5, 7)),
        ((a + d) // 2, 3, None),
        (a * a, 49, Dim.of(7)),
        (a * a, 50, range(0)),
        (a * a + 6, 5 * a, None),
        (a // d, 3, None),
        (b, d, None),
        (Dim.of(3), 4, range(0)),
        (Dim.of(4), 4, None),
    ],
)
def test_an_equation_is_solved_for_a_name(left: Dim, right: DimLike, solution: Dim | range | None) -> None:
    assert solve((left, right), A) == solution


@settings(max_examples=300, deadline=None)
@given(dims(NAMES, 4), dims(NAMES, 3), st.sampled_from(NAMES))
def test_a_solution_is_what_brute_force_finds(left: Dim, right: Dim, unknown: Symbol) -> None:
    solution = solve((left, right), unknown)
    if solution is None:
        return
    for values in small_values(NAMES, top=12):
        try:
            holds = left.evaluate(values) == right.evaluate(values)
        except ZeroDivisionError:
            continue
        value = values[unknown]
        solved = value in solution if isinstance(solution, range) else value == solution.evaluate(values)
        assert holds == solved, f"{left} == {right} for {unknown}: {solution}, {values}"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4), st.integers(-3, 3).filter(bool))
def test_the_integer_roots_of_a_polynomial_are_found(roots: list[int], factor: int) -> None:
    x = Symbol("x", low=None)
    polynomial = factor * (Dim.atom(x) ** 2 + 1)
    for root in roots:
        polynomial = polynomial * (Dim.atom(x) - root)
    assert integer_roots(polynomial, x) == sorted(set(roots))


def test_roots_below_the_least_value_are_left_out() -> None:
    assert integer_roots((h - 2) * (h + 3), H) == [2]
    assert integer_roots(h // 4 + 1, (h // 4).single_atom or H) == []


@settings(max_examples=200, deadline=None)
@given(st.integers(-4, 4).filter(bool), st.integers(-6, 6), st.integers(-6, 6), st.integers(-20, 20))
def test_two_factors_are_solved_as_brute_force_does(factor: int, by_x: int, by_y: int, constant: int) -> None:
    x, y = Symbol("x"), Symbol("y")
    dim = factor * Dim.atom(x) * Dim.atom(y) + by_x * Dim.atom(x) + by_y * Dim.atom(y) + constant
    found = two_factor_solutions(dim)
    if found is not None:
        small = [values for values in small_values((x, y), top=30) if dim.evaluate(values) == 0]
        assert all(dim.evaluate({x: s[x], y: s[y]}) == 0 for s in found)
        assert all(values in found for values in small)


def test_two_factors_with_infinitely_many_solutions_are_left_alone() -> None:
    assert two_factor_solutions((h - 2) * (d - 3)) is None
    assert two_factor_solutions(h - d) is None
    assert two_factor_solutions(h * d * t - 8) is None


def test_a_primitive_size_has_no_common_divisor_and_a_positive_lead() -> None:
    assert primitive(4 - 2 * h) == h - 2
    assert primitive(Dim.of(0)) == 0


def test_an_unknown_size_is_solved_like_a_name() -> None:
    unknown = Symbol("_1", Kind.UNKNOWN, low=0)
    assert solve((2 * Dim.atom(unknown), 2 * h), unknown) == h


def test_a_factor_that_may_be_zero_is_not_divided_by() -> None:
    assert QUANTITY.low is None
    assert solve((Dim.atom(QUANTITY) * a, Dim.atom(QUANTITY) * d), A) is None
