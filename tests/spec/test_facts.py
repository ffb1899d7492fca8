from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.dims import Dim, Kind, Symbol, maximum, minimum
from shaped.spec.facts import Facts, Status, Verdict
from tests.spec.sizes import NAMES, QUANTITY, UNKNOWN, Values, dims, read_back, small_values

b, d, h, s, t, w = (Dim.name(name) for name in "bdhstw")
dh = Dim.name("dh")
d_model, n_heads, q = Dim.quantity("d_model"), Dim.quantity("n_heads"), Dim.quantity("q", low=1)
u, v = (Dim.atom(Symbol(name, Kind.UNKNOWN, low=0)) for name in ("_1", "_2"))

EVERY = (*NAMES, QUANTITY, UNKNOWN)


@dataclass(frozen=True)
class Claim:
    """One thing that a path learns, and whether it holds for some values."""

    kind: str
    left: Dim
    right: Dim

    def teach(self, facts: Facts) -> Facts:
        match self.kind:
            case "==":
                return facts.with_equal(self.left, self.right)
            case "!=":
                return facts.with_different(self.left, self.right)
            case ">=":
                return facts.with_at_least(self.left, self.right)
            case "%":
                return facts.with_exact(self.left, self.right)
            case _:
                return facts.with_intended(self.left, self.right)

    def holds(self, values: Values) -> bool:
        left, right = self.left.evaluate(values), self.right.evaluate(values)
        return {
            "==": left == right,
            "!=": left != right,
            ">=": left >= right,
            "%": right != 0 and left % (right or 1) == 0,
            "//": True,
        }[self.kind]


claims = st.lists(
    st.builds(Claim, st.sampled_from(["==", "!=", ">=", "%", "//"]), dims(EVERY, 3), dims(EVERY, 2)), max_size=3
)
# Equations that the algebra has a chance to decide: small, with few operations.
sides = dims(EVERY, 4)


def _learn(learned: list[Claim]) -> Facts:
    facts = Facts()
    for claim in learned:
        facts = claim.teach(facts)
    return facts


def _worlds(learned: list[Claim], top: int = 5) -> list[Values]:
    """The small values for which all claims hold."""
    worlds: list[Values] = []
    for values in small_values(EVERY, top):
        try:
            if all(claim.holds(values) for claim in learned):
                worlds.append(values)
        except ZeroDivisionError:
            continue
    return worlds


def _value(dim: Dim, values: Values) -> int | None:
    try:
        return dim.evaluate(values)
    except ZeroDivisionError:
        return None


@settings(max_examples=400, deadline=None)
@given(claims, sides)
def test_normalizing_keeps_the_value_wherever_the_facts_hold(learned: list[Claim], dim: Dim) -> None:
    normal = _learn(learned).normalize(dim)
    for values in _worlds(learned):
        before, after = _value(dim, values), _value(normal, values)
        assert None in (before, after) or before == after, f"{dim} became {normal}, {values}"


@settings(max_examples=1000, deadline=None)
@given(claims, sides, sides)
def test_a_verdict_on_an_equation_agrees_with_brute_force(learned: list[Claim], left: Dim, right: Dim) -> None:
    facts = _learn(learned)
    verdict = facts.compare(left, right)
    worlds = [values for values in _worlds(learned) if None not in (_value(left, values), _value(right, values))]
    _check(verdict, learned, left - right, [values for values in worlds if _value(left - right, values) == 0], worlds)
    if facts.is_impossible:
        assert verdict.status is Status.OPEN
        assert not worlds
    if verdict.status is Status.ASSUMABLE:
        assert not (left - right).has_unknown
        for values in worlds:
            try:
                assumed = bool(read_back(verdict.assumption, values))
            except ZeroDivisionError:
                continue
            if assumed:
                assert left.evaluate(values) == right.evaluate(values), f"{verdict.assumption} at {values}"
        assert verdict.learned is not None
        if verdict.learned != facts:
            assert verdict.learned.compare(left, right).status is Status.PROVED


@settings(max_examples=500, deadline=None)
@given(claims, sides, sides)
def test_a_verdict_on_an_inequality_agrees_with_brute_force(learned: list[Claim], left: Dim, right: Dim) -> None:
    verdict = _learn(learned).at_least(left, right)
    worlds = [values for values in _worlds(learned) if None not in (_value(left, values), _value(right, values))]
    holding = [values for values in worlds if left.evaluate(values) >= right.evaluate(values)]
    assert verdict.status is not Status.ASSUMABLE
    _check(verdict, learned, left - right, holding, worlds, inequality=True)


def _check(
    verdict: Verdict,
    learned: list[Claim],
    difference: Dim,
    holding: list[Values],
    worlds: list[Values],
    *,
    inequality: bool = False,
) -> None:
    match verdict.status:
        case Status.PROVED:
            assert len(holding) == len(worlds)
        case Status.NEVER:
            assert not holding, holding[0]
        case Status.SOMETIMES:
            assert not difference.has_unknown
            sizes = {symbol: verdict.sizes[symbol.name] for symbol in difference.symbols()}
            value = difference.evaluate(sizes)
            assert value < 0 if inequality else value != 0
            assert all(symbol.low is None or size >= symbol.low for symbol, size in sizes.items())
            # The sizes obey every claim that speaks of nothing else.
            for claim in learned:
                if claim.left.symbols() | claim.right.symbols() <= sizes.keys():
                    assert claim.holds(sizes), f"{claim} at {sizes}"


@settings(max_examples=300, deadline=None)
@given(claims, claims, sides, sides)
def test_what_is_known_after_two_paths_meet_holds_on_both(
    one: list[Claim], two: list[Claim], left: Dim, right: Dim
) -> None:
    joined = _learn(one).join(_learn(two))
    verdict = joined.compare(left, right)
    for path in (one, two):
        worlds = [values for values in _worlds(path, 4) if _value(left - right, values) is not None]
        if verdict.status is Status.PROVED:
            assert all(_value(left - right, values) == 0 for values in worlds)
        elif verdict.status is Status.NEVER:
            assert all(_value(left - right, values) != 0 for values in worlds)
