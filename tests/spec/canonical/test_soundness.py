"""The canonical form, the adjoint and the comparison against plain evaluation of random expressions."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.canonical import Undecided, Undefined, adjoint, canonical, compare
from shaped.spec.expr import Expr, add, multiply, real, where
from shaped.spec.index import Index, fresh_index
from shaped.spec.substitution import substitute
from tests.spec.canonical.brute_force import Dual, OutsideDomain, Point, agree, evaluate
from tests.spec.canonical.expressions import VARIABLES, M, Maker, N, points

SEEDS = st.integers(0, 2**32)


def value(node: Expr, point: Point) -> Fraction | object | None:
    """The value at a point, None where there is none: a canonical form reads outside an axis what counts 0."""
    try:
        return evaluate(node, point).value
    except (OutsideDomain, KeyError):
        return None


def check_values(seed: int, depth: int) -> None:
    draw = random.Random(seed)
    scope = [fresh_index(N, "i"), fresh_index(M, "j")]
    node = Maker(draw).number(depth, scope)
    try:
        form = canonical(node).to_expr()
    except (Undecided, Undefined):
        return
    for point in points(draw, scope):
        expected, actual = value(node, point), value(form, point)
        assert expected is None or actual is None or agree(expected, actual), f"{node} at {point}"


def check_slopes(seed: int, depth: int) -> None:
    draw = random.Random(seed)
    scope = [fresh_index(N, "i"), fresh_index(M, "j")]
    node = Maker(draw).number(depth, scope)
    variable = draw.choice(VARIABLES)
    at = tuple(fresh_index(size, "a") for size in variable.sizes)
    try:
        form = adjoint([((), node)], [real(1)], variable, at).to_expr()
    except (Undecided, Undefined):
        return
    for point in points(draw, scope, along=variable.name):
        ((_, place),) = (key for key, entry in point.entries.items() if entry.slope)
        still = {key: Dual(entry.value) for key, entry in point.entries.items()}
        try:
            expected = evaluate(node, point).slope
        except OutsideDomain:
            continue
        actual = value(form, Point({**point.symbols, **dict(zip(at, place, strict=True))}, still))
        assert actual is None or agree(expected, actual), f"d {node} / d {variable.name}{list(place)} at {point}"


def check_pairs(seed: int, count: int) -> None:
    draw = random.Random(seed)
    scope: list[Index] = [fresh_index(N, "i")]
    maker = Maker(draw)
    pool = [maker.number(draw.choice([1, 2]), scope) for _ in range(count)]
    pool += [where(maker.condition(2, scope), draw.choice(pool), draw.choice(pool)) * draw.choice(pool)]
    somewhere = points(draw, scope, most=10)
    values = [[value(node, point) for point in somewhere] for node in pool]
    for (left, of_left), (right, of_right) in itertools.combinations(zip(pool, values, strict=True), 2):
        comparison = compare(left, right)
        if comparison.equal and not comparison.kinks:
            for a, b in zip(of_left, of_right, strict=True):
                assert a is None or b is None or agree(a, b), f"{left} is taken for {right}"


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_a_canonical_form_has_the_value_of_the_expression(seed: int) -> None:
    check_values(seed, 2)


@given(SEEDS)
@settings(max_examples=80, deadline=None)
def test_an_adjoint_is_the_slope_of_the_expression(seed: int) -> None:
    check_slopes(seed, 2)


@given(SEEDS)
@settings(max_examples=12, deadline=None)
def test_what_is_called_equal_agrees_wherever_both_are_defined(seed: int) -> None:
    check_pairs(seed, 5)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_names_of_indices_and_the_order_of_terms_do_not_matter(seed: int) -> None:
    draw = random.Random(seed)
    scope = [fresh_index(N, "i"), fresh_index(M, "j")]
    node = Maker(draw, smooth=True).number(2, scope)
    shuffled = _shuffled(node, draw)
    try:
        form = canonical(node)
    except (Undecided, Undefined):
        return
    assert canonical(shuffled) == form
    others = [fresh_index(N, "p"), fresh_index(M, "q")]
    renamed = substitute(node, {old: new.dim for old, new in zip(scope, others, strict=True)})
    back = {new: old.dim for old, new in zip(scope, others, strict=True)}
    assert canonical(substitute(canonical(renamed).to_expr(), back)) == form


def _shuffled(node: Expr, draw: random.Random) -> Expr:
    """The expression with bound indices renamed, and terms and factors in another order."""
    from shaped.spec.expr import Add, Binder, Multiply

    if isinstance(node, (Add, Multiply)):
        parts = [_shuffled(part, draw) for part in node.fields[0]]  # type: ignore[attr-defined]
        draw.shuffle(parts)
        return (add if isinstance(node, Add) else multiply)(*parts)
    if isinstance(node, Binder):
        index = fresh_index(node.index.size, "z")
        return type(node)(index, _shuffled(substitute(node.body, {node.index: index.dim}), draw))
    return node


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_expressions(part: int) -> None:
    for seed in range(part * 1000, part * 1000 + 1000):
        check_values(seed, 3)
        check_slopes(seed, 2)
        if seed % 10 == 0:
            check_pairs(seed, 10)
