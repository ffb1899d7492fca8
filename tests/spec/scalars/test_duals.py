"""Derivatives in a direction, over several number systems, and against the gradients of the adjoint sweep."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from shaped.spec.dims import Dim
from shaped.spec.evaluation import evaluate, evaluate_where_defined
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.expr import FUNCTIONS, Expr, Greatest, Variable, apply, power
from shaped.spec.index import fresh_index
from shaped.spec.scalars.balls import Balls
from shaped.spec.scalars.duals import Dual, Duals
from shaped.spec.scalars.field import Field
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason, Scalars
from tests.spec.scalars.expressions import AT, expressions, points

N = Dim.name("n")
x, i = Variable("x", (N,)), fresh_index(N)
SYSTEMS: list[Scalars] = [Fractions(), Floats(), Balls(), Field()]


@settings(max_examples=80)
@given(expressions(), points(), points())
def test_a_direction_through_the_gradient_is_the_derivative_in_it(
    node: Expr, values: dict[str, list[Fraction]], directions: dict[str, list[Fraction]]
) -> None:
    """<g, J d> = <J^T g, d>, exactly, at kinks too: both take the same convention there."""
    duals = Duals(Fractions())
    given_duals = {name: duals.of(values[name], directions[name]) for name in values}
    forward = evaluate(node, [AT], duals, {"n": 3}, given_duals)
    upstream = [Fraction(2), Fraction(-1), Fraction(1, 3)]
    found = gradients(node, [AT], upstream, ["x", "y"], Fractions(), {"n": 3}, values)
    left = sum((g * each.tangent for g, each in zip(upstream, forward)), Fraction(0))
    right = sum((a * b for name in found for a, b in zip(found[name].data, directions[name])), Fraction(0))
    assert left == right


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_the_rules_hold_in_every_system(system: Scalars) -> None:
    duals = Duals(system)
    node = power(x[i.dim], 3) - 2 / x[i.dim]
    (result,) = evaluate(node, [i], duals, {"n": 1}, {"x": duals.of([4], [Fraction(1, 2)])})
    expected = system.given(Fraction(1, 2) * (48 + Fraction(1, 8)))
    difference = result.tangent + expected * system.constant_of(-1)
    assert not difference.residue if isinstance(system, Field) else difference == 0


@pytest.mark.parametrize("function", sorted(FUNCTIONS - {"digamma"}))
def test_the_slope_of_a_function_is_that_of_the_gradient(function: str) -> None:
    point = 1.25 if function == "acosh" else 0.625
    duals = Duals(Balls())
    (result,) = evaluate(apply(function, x[i.dim]), [i], duals, {"n": 1}, {"x": duals.of([point], [3.0])})
    slope = gradients(apply(function, x[i.dim]), [i], [3.0], ["x"], Balls(), {"n": 1}, {"x": [point]})["x"].data[0]
    assert result.tangent.overlaps(slope)
    assert float(result.tangent.rad()) < 1e-30


def test_ties_take_the_mean_of_the_directions() -> None:
    duals = Duals(Fractions())
    tied = duals.of([5, 1, 5, 5], [1, 100, 2, 6])
    result = evaluate(Greatest(i, x[i.dim]), [], duals, {"n": 4}, {"x": tied}).item()
    assert (result.value, result.tangent) == (5, 3)


def test_ties_of_an_inner_maximum_count_once_in_an_outer_one() -> None:
    y, j = Variable("y", (N, N)), fresh_index(N)
    duals = Duals(Fractions())
    tied = duals.of([[5, 5, 5], [5, 1, 1], [0, 0, 0]], [[3, 3, 6], [8, 0, 0], [0, 0, 0]])
    rows = Greatest(i, Greatest(j, y[i.dim, j.dim]))
    assert evaluate(rows, [], duals, {"n": 3}, {"y": tied}).item().tangent == Fraction(4 + 8, 2)


def test_a_value_without_a_slope_is_told() -> None:
    duals = Duals(Fractions())
    found = evaluate_where_defined(
        power(x[i.dim], Fraction(1, 2)), [i], duals, {"n": 2}, {"x": duals.of([0, 4], [1, 1])}
    )
    assert found.reasons.tolist() == [Reason.DIVISION, 0]
    assert found.data[1] == Dual(2, Fraction(1, 4))
