from __future__ import annotations

import time
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


def _worlds(learned: list[Claim], top: int = 4) -> list[Values]:
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


@settings(max_examples=150, deadline=None)
@given(claims, sides)
def test_normalizing_keeps_the_value_wherever_the_facts_hold(learned: list[Claim], dim: Dim) -> None:
    normal = _learn(learned).normalize(dim)
    for values in _worlds(learned):
        before, after = _value(dim, values), _value(normal, values)
        assert None in (before, after) or before == after, f"{dim} became {normal}, {values}"


@settings(max_examples=250, deadline=None)
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
        # What was assumed is not refuted by itself; a second assumption may be needed (`min(q//a, q)`).
        assert verdict.learned.compare(left, right).status in (Status.PROVED, Status.ASSUMABLE)


@settings(max_examples=250, deadline=None)
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


@settings(max_examples=100, deadline=None)
@given(claims, claims, sides, sides)
def test_what_is_known_after_two_paths_meet_holds_on_both(
    one: list[Claim], two: list[Claim], left: Dim, right: Dim
) -> None:
    joined = _learn(one).join(_learn(two))
    verdict = joined.compare(left, right)
    for path in (one, two):
        worlds = [values for values in _worlds(path, 3) if _value(left - right, values) is not None]
        if verdict.status is Status.PROVED:
            assert all(_value(left - right, values) == 0 for values in worlds)
        elif verdict.status is Status.NEVER:
            assert all(_value(left - right, values) != 0 for values in worlds)


CASES: list[tuple[Dim, Dim, Status, str]] = [
    # the same sizes, and sizes that no values make equal
    (b * h * (d // h), b * (h * (d // h)), Status.PROVED, ""),
    (h - h // 2, (h - 1) // 2 + 1, Status.PROVED, ""),
    (h // 2 + (h + 1) // 2, h, Status.PROVED, ""),
    (Dim.of(128), Dim.of(64), Status.NEVER, ""),
    (t, t + 1, Status.NEVER, ""),
    (2 * u, Dim.of(3), Status.NEVER, ""),
    (u, Dim.of(-1), Status.NEVER, ""),
    (t + 1, -s, Status.NEVER, ""),
    (512 * u, Dim.of(400), Status.NEVER, ""),
    (u * u, Dim.of(2), Status.NEVER, ""),
    (t // 2, t, Status.NEVER, ""),
    (b * t, b * t + b, Status.NEVER, ""),
    (Dim.of(0), b, Status.NEVER, ""),
    (512 * (s // 32 - 6) ** 2, Dim.of(513), Status.NEVER, ""),
    (h // 4 * (w // 4), Dim.of(-4), Status.NEVER, ""),
    # sizes that were not followed
    (u, d, Status.OPEN, ""),
    (u, Dim.of(3), Status.OPEN, ""),
    (u * d, v, Status.OPEN, ""),
    (u // 2 * 2, u, Status.OPEN, ""),
    # named sizes that differ for some values
    (d, h, Status.SOMETIMES, ""),
    (d, Dim.of(4), Status.SOMETIMES, ""),
    (d_model, Dim.of(4), Status.SOMETIMES, ""),
    (d_model, n_heads, Status.SOMETIMES, ""),
    (8 * (h // 8), h, Status.SOMETIMES, ""),
    ((h - 1) // 2 + 1, 2 * ((h - 1) // 4) + 2, Status.SOMETIMES, ""),
    (h // 8, w // 8, Status.SOMETIMES, ""),
    (t, s + q, Status.SOMETIMES, ""),
    (n_heads * (d_model // n_heads), d_model, Status.SOMETIMES, ""),
    # a dim name meets a caller's int
    (d, d_model, Status.ASSUMABLE, "d == d_model"),
    (b * t * d, b * t * d_model, Status.ASSUMABLE, "d == d_model"),
    (b * d, b * n_heads * q, Status.ASSUMABLE, "d == n_heads*q"),
    (t, q + 1, Status.ASSUMABLE, "t == q+1"),
    (n_heads * dh, d_model, Status.ASSUMABLE, "dh*n_heads == d_model"),
    (2 * d, d_model, Status.ASSUMABLE, "2*d == d_model"),
    (h * w, q, Status.ASSUMABLE, "h*w == q"),
    (h // 16 * (w // 16), (d_model // 16) ** 2, Status.ASSUMABLE, "(h//16)*(w//16) == (d_model//16)*(d_model//16)"),
    # the smaller of two
    (minimum(t, 64), t, Status.ASSUMABLE, "t <= 64"),
    (minimum(t, 64), Dim.of(64), Status.ASSUMABLE, "64 <= t"),
    (maximum(t, 3), t, Status.ASSUMABLE, "3 <= t"),
    (minimum(t, d_model), t, Status.ASSUMABLE, "t <= d_model"),
    (b * minimum(t, d_model), b * d_model, Status.ASSUMABLE, "d_model <= t"),
    # an image size that a fixed head pins
    (512 * (s // 32 - 6) ** 2, Dim.of(512), Status.ASSUMABLE, "(s//32)*(s//32)-12*(s//32) == -35"),
    (512 * (s // 32) ** 2, Dim.of(25088), Status.ASSUMABLE, "s//32 == 7"),
    (512 * (h // 32) * (w // 32), Dim.of(25088), Status.ASSUMABLE, "(h//32)*(w//32) == 49"),
    (16 * ((h - 4) // 4) * ((w - 4) // 4), Dim.of(400), Status.ASSUMABLE, "(h//4)*(w//4)-h//4-w//4 == 24"),
    (64 * (h // 4) * (w // 4) * (d // 4), Dim.of(4096), Status.ASSUMABLE, "(d//4)*(h//4)*(w//4) == 64"),
]


@pytest.mark.parametrize("left, right, status, assumption", CASES, ids=[f"{c[0]} == {c[1]}" for c in CASES])
def test_an_equation_has_its_verdict(left: Dim, right: Dim, status: Status, assumption: str) -> None:
    verdict = Facts().compare(left, right)
    assert (verdict.status, verdict.assumption) == (status, assumption)
    assert Facts().compare(right, left).status is status


def test_the_sizes_of_a_refutation_are_small_and_distinct() -> None:
    assert Facts().compare(d, h).sizes == {"d": 2, "h": 3}
    assert Facts().compare(b * h * w, d * t).sizes == {"b": 2, "d": 3, "h": 4, "t": 5, "w": 6}
    assert Facts().compare(d, 2).sizes == {"d": 3}


def test_the_sizes_of_a_refutation_obey_the_facts() -> None:
    facts = Facts().with_at_least(t, 100).with_exact(d, 8)
    sizes = facts.compare(t, d).sizes
    assert sizes["t"] >= 100
    assert sizes["d"] % 8 == 0
    assert Facts().with_equal(d, 2 * q).compare(d, 4).sizes == {"d": 6}


def test_a_division_that_the_user_wrote_is_assumed_to_leave_no_rest() -> None:
    facts = Facts().with_intended(d_model, n_heads)
    verdict = facts.compare(b * n_heads * (d_model // n_heads), b * d_model)
    assert verdict.status is Status.ASSUMABLE
    assert verdict.assumption == "d_model % n_heads == 0"
    assert verdict.learned is not None
    assert verdict.learned.normalize(n_heads * (d_model // n_heads)) == d_model
    assert verdict.learned.intended == facts.intended


def test_only_the_divisions_that_matter_are_assumed() -> None:
    facts = Facts().with_intended(d, h).with_intended(d, w).with_intended(d // h, 2)
    assert facts.compare(h * (d // h), d).assumption == "d % h == 0"
    assert facts.compare(2 * h * (d // h // 2), d).assumption == "d % h == 0 and (d//h) % 2 == 0"


def test_a_floor_of_a_formula_is_not_assumed_to_be_exact() -> None:
    assert Facts().with_intended(d, h).compare(8 * (h // 8), h).status is Status.SOMETIMES


def test_what_is_assumed_is_known_from_there_on() -> None:
    named = Facts().compare(d, d_model).learned
    assert named is not None
    assert named.compare(d, d_model).status is Status.PROVED
    assert named.compare(d, n_heads).status is Status.SOMETIMES
    smaller = Facts().compare(minimum(t, 64), t).learned
    assert smaller is not None
    assert smaller.normalize(minimum(t, 64)) == t
    pinned = Facts().compare(512 * (s // 32) ** 2, 25088).learned
    assert pinned is not None
    assert pinned.normalize(s // 32) == 7
    assert pinned.compare(s, 100).status is Status.NEVER


def test_an_exact_division_is_used_in_every_form() -> None:
    facts = Facts().with_exact(d, h)
    assert facts.normalize(h * (d // h)) == d
    assert facts.normalize(3 * d // h) == 3 * (d // h)
    assert facts.normalize(d * w // h) == w * (d // h)
    assert facts.normalize(d % h) == 0
    assert facts.normalize(2 * d // (2 * h) * h + 1) == d + 1
    assert Facts().with_exact(h + 1, 2).normalize(2 * (h // 2)) == h - 1
    assert Facts().with_exact(h, 2).with_exact(h, 3).normalize(h // 6 * 6) == h
    assert Facts().with_exact(h * w, q).normalize(q * (h * w // q)) == h * w


def test_an_exact_quotient_may_be_one() -> None:
    assert Facts().with_exact(d, h).at_least(d, h).status is Status.PROVED
    assert Facts().with_exact(d, h).at_least(d, 2 * h).status is Status.SOMETIMES
    assert Facts().with_exact(d, 4).compare(d, 4).status is Status.SOMETIMES
    assert Facts().with_exact(d, 4).compare(d, 2).status is Status.NEVER


def test_a_remainder_that_was_compared_teaches_an_exact_division() -> None:
    assert Facts().with_equal(d % h, 0).normalize(h * (d // h)) == d
    assert Facts().with_equal(h % 2, 1).normalize(2 * (h // 2)) == h - 1
    assert Facts().with_equal(8 * (h // 8), h).compare(8 * (h // 8), h).status is Status.PROVED


def test_bounds_decide_floors_and_minima() -> None:
    facts = Facts().with_at_least(64, t).with_at_least(t, 33)
    assert facts.normalize(minimum(t, 64)) == t
    assert facts.normalize(maximum(t, 33)) == t
    assert facts.normalize((t - 1) // 32) == 1
    assert facts.compare(t, 65).status is Status.NEVER
    assert facts.compare(t, 50).status is Status.SOMETIMES
    assert Facts().normalize((d % h) // h) == 0
    assert Facts().normalize(minimum(t, t // 2 * 2)) == t // 2 * 2


def test_a_name_takes_the_value_it_was_seen_to_equal() -> None:
    facts = Facts().with_equal(d, 3 * d_model).with_equal(d_model, 8)
    assert facts.normalize(d + 1) == 25
    assert Facts().with_equal(u, d + 1).normalize(u) == u
    assert Facts().with_equal(u, d + 1).compare(d, u).status is Status.NEVER
    assert Facts().with_equal(2 * u, 8).normalize(u) == 4
    assert Facts().with_equal(u, 2 * v).compare(u, 3).status is Status.NEVER
    assert Facts().with_equal(h * h, 49).normalize(h) == 7


def test_a_value_keeps_the_bound_of_the_name_it_replaces() -> None:
    assert Facts().with_equal(d, d_model).at_least(d_model, 1).status is Status.PROVED


@settings(max_examples=150, deadline=None)
@given(claims, sides)
def test_normalizing_twice_is_normalizing_once(learned: list[Claim], dim: Dim) -> None:
    facts = _learn(learned)
    assert all(facts.values.keys().isdisjoint(value.symbols()) for value in facts.values.values())
    once = facts.normalize(dim)
    assert facts.is_impossible or facts.compare(once, dim).status is Status.PROVED


def test_sizes_seen_to_differ_never_agree() -> None:
    facts = Facts().with_different(d, h)
    assert facts.compare(2 * d, 2 * h).status is Status.NEVER
    assert facts.compare(b * h, b * d).status is Status.NEVER
    assert facts.compare(d, w).status is Status.SOMETIMES


@pytest.mark.parametrize(
    "facts",
    [
        Facts().with_equal(d, 3).with_equal(d, 4),
        Facts().with_equal(b, 0),
        Facts().with_different(d, h).with_equal(d, h),
        Facts().with_equal(d, h).with_different(d, h),
        Facts().with_at_least(3, t).with_at_least(t, 4),
        Facts().with_exact(2 * d + 1, 2),
    ],
)
def test_nothing_is_said_on_a_path_that_no_sizes_reach(facts: Facts) -> None:
    assert facts.is_impossible
    assert facts.compare(128, 64).status is Status.OPEN
    assert facts.at_least(1, 2).status is Status.OPEN
    known = Facts().with_equal(d, 8)
    assert facts.join(known) == known.join(facts) == known


def test_facts_that_teach_nothing_leave_the_facts_as_they_are() -> None:
    facts = Facts()
    assert facts.with_equal(d, d) is facts
    assert facts.with_at_least(t, 1) is facts
    assert facts.with_different(t, t + 1) is facts
    assert facts.with_exact(2 * d, 2) is facts
    assert facts.with_intended(2 * d, 2) is facts


INEQUALITIES: list[tuple[Dim, Dim, Status]] = [
    (t, t // 2, Status.PROVED),
    (t, q * (t // q), Status.PROVED),
    (q * (t // q) + q - 1, t, Status.PROVED),
    (t, minimum(t, 3), Status.PROVED),
    (b * t, t, Status.PROVED),
    (t, Dim.of(1), Status.PROVED),
    (u, Dim.of(0), Status.PROVED),
    (minimum(t, 64) + 1, minimum(t, 65), Status.PROVED),
    (t // 2, t, Status.NEVER),
    (Dim.of(3), t * h + 3, Status.NEVER),
    (t, Dim.of(5), Status.SOMETIMES),
    (t, d_model, Status.SOMETIMES),
    (u, Dim.of(3), Status.OPEN),
    (u, t, Status.OPEN),
]


@pytest.mark.parametrize("left, right, status", INEQUALITIES, ids=[f"{c[0]} >= {c[1]}" for c in INEQUALITIES])
def test_an_inequality_has_its_verdict(left: Dim, right: Dim, status: Status) -> None:
    assert Facts().at_least(left, right).status is status


def test_an_int_that_may_be_negative_keeps_the_rounding_of_its_quotients() -> None:
    # For q = -2 and t = 3, t//q is -2 and q*(t//q) is 4, above t.
    assert Facts().at_least(t, Dim.quantity("q") * (t // Dim.quantity("q"))).status is not Status.PROVED


def test_a_size_that_is_bound_by_one_not_followed_is_not_refuted() -> None:
    facts = Facts().with_at_least(t, u).with_at_least(u, t - 1)
    assert facts.compare(t, 4).status is Status.OPEN


def test_paths_that_meet_keep_what_holds_on_both() -> None:
    one = Facts().with_equal(d, 8).with_exact(h, 4).with_intended(w, 2)
    two = Facts().with_equal(d, 8).with_exact(h, 8).with_at_least(t, 9)
    joined = one.join(two)
    assert joined.normalize(d) == 8
    assert joined.normalize(4 * (h // 4)) == h
    assert joined.compare(8 * (h // 8), h).status is Status.SOMETIMES
    assert joined.at_least(t, 9).status is Status.SOMETIMES
    assert joined.intended == one.intended
    assert one.with_at_least(t, 12).join(two).at_least(t, 9).status is Status.PROVED
    assert one.with_equal(t, 4).join(two).compare(t, 3).status is Status.NEVER


def test_large_sizes_are_decided_in_bounded_time() -> None:
    started = time.perf_counter()
    size = h
    for i in range(60):
        size = size - 2 * (size // q) + minimum(size, i + w)
        size = size * (size + 1)
        assert Facts().compare(size, h).status is Status.OPEN or i < 3
    size = h
    for _ in range(40):
        size = size + size // 2 + 1
        Facts().compare(size, w)
    assert time.perf_counter() - started < 20
