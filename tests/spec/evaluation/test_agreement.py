"""The check that proofs have to pass: it accepts identities, and finds what is none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaped.spec.dims import Dim
from shaped.spec.evaluation import Agreement, check_equal
from shaped.spec.expr import (
    PI,
    Expr,
    Flag,
    Greatest,
    Sum,
    Variable,
    apply,
    bracket,
    index_zero,
    positive,
    power,
    real,
    where,
    zero,
)
from shaped.spec.index import fresh_index, lookup
from shaped.spec.scalars.system import Reason

M, N = Dim.name("m"), Dim.name("n")
i, j = fresh_index(M, "i"), fresh_index(N, "j")
x, g, v = Variable("x", (M, N)), Variable("g", (M, N)), Variable("v", (N,))
at = x[i.dim, j.dim]


def compare(left: Expr, right: Expr) -> Agreement:
    return check_equal(left, right, [i, j])


def exp(value: Expr) -> Expr:
    return apply("exp", value)


def row(value: Expr) -> Expr:
    """The sum over the row, with an index of its own."""
    return Sum(j, value)


SOFTMAX = exp(at) / row(exp(at))
other = fresh_index(N)
SHIFTED = exp(at - Greatest(other, x[i.dim, other.dim]))
HALF = Fraction(1, 2)

IDENTITIES = {
    "rational": ((at + 1) ** 2 - at**2, 2 * at + 1),
    "a quotient": (1 / at - 1 / (at + 1), 1 / (at * (at + 1))),
    "a sum": (row(at * 3 - v[j.dim]), 3 * row(at) - row(v[j.dim])),
    "a size": (row(real(1)), real(N)),
    "roots": (power(at, HALF) * power(at, 3 * HALF), at**2),
    "exp of a sum": (exp(at) * exp(v[j.dim]), exp(at + v[j.dim])),
    "log of a product": (apply("log", at * at + 1) * 2, apply("log", (at * at + 1) ** 2)),
    "softmax, shifted": (SOFTMAX, SHIFTED / row(SHIFTED)),
    "sigmoid": (apply("sigmoid", at), 1 / (1 + exp(-at))),
    "tanh": (apply("tanh", at), 1 - 2 / (exp(2 * at) + 1)),
    "erf is odd": (apply("erf", -at), -apply("erf", at)),
    "pi": (apply("sin", PI / 6) * at, at * HALF),
    "relu": (where(positive(at), at, 0), (at + apply("abs", at)) / 2),
    "lookup": (x[i.dim, lookup("t", (i.dim,), N)], row(at * bracket(index_zero(lookup("t", (i.dim,), N) - j.dim)))),
    "masks": (where(Flag(Variable("b", (M,), "bool"), (i.dim,)), at, -at) ** 2, at**2),
}
DIFFERENT = {
    "a sign": (at - v[j.dim], v[j.dim] - at),
    "n and n - 1": (row(at) / real(N), row(at) / real(N + 1)),
    "an epsilon": (power(at * at + Fraction(1, 10**5), -HALF), power(at * at + Fraction(1, 10**6), -HALF)),
    "a constant off by 1e-12": (exp(at) * (1 + Fraction(1, 10**12)), exp(at)),
    "the root of a square": (power(at**2, HALF), at),
    "softmax over another axis": (SOFTMAX, exp(at) / Sum(i, exp(at))),
    "relu and the identity": (where(positive(at), at, 0), at),
    "tanh for erf": (apply("tanh", at), apply("erf", at)),
    "transposed lookups": (v[lookup("t", (i.dim,), N)], v[lookup("s", (i.dim,), N)]),
    "a threshold far away": (where(positive(at - 20), 0, at), at),
    "two thresholds": (where(positive(at + 100), where(positive(at - 50), at, 0), at), where(positive(at - 50), at, 0)),
    "rare branches": (where(positive(at - Fraction(5, 2)), 0, at), at),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_holds(name: str) -> None:
    result = compare(*IDENTITIES[name])
    assert result.holds, result
    assert result.entries > 20
    assert "equal at" in str(result)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_found(name: str) -> None:
    result = compare(*DIFFERENT[name])
    assert not result.holds
    assert result.disagreement is not None
    assert " against " in str(result.disagreement)
    assert "n = " in str(result.disagreement) or name == "transposed lookups"


def test_rational_values_are_compared_as_fractions() -> None:
    result = compare(*IDENTITIES["rational"])
    assert result.exact == result.entries
    assert compare(*IDENTITIES["tanh"]).exact == 0


def test_a_witness_shows_sizes_values_and_both_sides() -> None:
    found = check_equal(at * 2, at * 3, [i, j], seed=1).disagreement
    assert found is not None
    entry = found.values["x"][found.place]
    assert (found.left, found.right) == (2 * entry, 3 * entry)
    assert set(found.sizes) == {"m", "n"}


def test_a_check_in_which_nothing_was_compared_is_no_check() -> None:
    never = power(at - at, -1)
    result = compare(never, never + 1)
    assert not result.holds
    assert result.disagreement is None
    assert set(result.skipped) == {Reason.DIVISION}
    assert str(result).startswith("nothing was compared: a divisor is 0")


def test_points_outside_the_domain_do_not_count() -> None:
    log = apply("log", at)
    result = compare(exp(log), at)
    assert result.holds
    assert result.skipped[Reason.DOMAIN] > 0


def test_a_value_that_is_computed_from_an_irrational_one_is_not_taken_for_undefined() -> None:
    # The number that stands in for the irrational exp, 1, is outside the domain of atanh.
    small = exp(-(at**2) - 1)
    assert compare(apply("atanh", small), (apply("log", 1 + small) - apply("log", 1 - small)) / 2).holds


def test_the_values_of_integer_tensors_lie_on_the_axes_that_they_are_places_on() -> None:
    picked = x[i.dim, lookup("unbounded", (i.dim,))]
    result = compare(picked + picked, 2 * picked)
    assert result.holds
    assert not result.skipped


def test_branches_that_were_not_compared_are_told() -> None:
    result = compare(where(positive(at - 20), 3 * at, at * 2 + at), 3 * at)
    assert result.holds
    assert result.one_sided == ()
    never = positive(-1 - at**2)
    result = compare(where(never, at, 2 * at), 2 * at)
    assert result.holds
    assert result.one_sided == (never,)


def test_ties_are_not_drawn() -> None:
    tied = zero(x[i.dim, j.dim] - v[j.dim])
    assert compare(where(tied, 1, 0), real(0)).holds


def test_sizes_can_be_fixed() -> None:
    (symbol,) = N.symbols()
    result = check_equal(row(at), x[i.dim, Dim.of(0)], [i], sizes={symbol: 1})
    assert result.holds
    assert not check_equal(row(at), x[i.dim, Dim.of(0)], [i]).holds


def test_the_same_seed_draws_the_same_points() -> None:
    first, second = (check_equal(at, at + 1, [i, j], seed=3).disagreement for _ in range(2))
    assert str(first) == str(second)


def test_a_tie_of_irrational_numbers_is_decided_by_algebra() -> None:
    tied = zero(exp(at + 1) - exp(at) * exp(real(1)))
    result = compare(where(tied, at, 2 * at), at)
    assert result.holds, result
    assert result.exact == 0
    # What only residues could tell apart is not called different.
    assert compare(where(tied, at, 2 * at), 2 * at).disagreement is None
    assert not compare(where(tied, at, 2 * at), 2 * at).holds
