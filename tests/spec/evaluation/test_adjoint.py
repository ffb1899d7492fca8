"""Gradients by the chain rule over evaluated expressions, against torch and against differences."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from shaped.spec.dims import Dim
from shaped.spec.evaluation import evaluate
from shaped.spec.evaluation.adjoint import gradients
from shaped.spec.expr import (
    INFINITY,
    Expr,
    Flag,
    Greatest,
    Product,
    Sum,
    Variable,
    apply,
    bracket,
    index_nonnegative,
    positive,
    power,
    real,
    where,
    zero,
)
from shaped.spec.index import fresh_index, lookup
from shaped.spec.scalars.balls import Balls
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason, Undefined
from tests.spec.scalars.expressions import AT, expressions, points

N = Dim.name("n")
i, j = fresh_index(N, "i"), fresh_index(N, "j")
x, y = Variable("x", (N,)), Variable("y", (N,))
at = x[i.dim]


def gradient(node: Expr, values: dict[str, Any], upstream: Any = None, of: str = "x") -> list[Any]:
    """The exact gradient by one tensor, of the sum of the entries unless an upstream gradient is given."""
    size = len(values["x"])
    upstream = [1] * size if upstream is None else upstream
    found = gradients(node, [i], upstream, [of], Fractions(), {"n": size}, values)[of]
    assert not found.reasons.any()
    return list(found.data)


def test_each_kind_of_node() -> None:
    values = {"x": [2, -3, 5], "y": [7, 1, 4]}
    g = [1, 10, 100]
    expected: list[tuple[Expr, list[object]]] = [
        (at + y[i.dim] * at, [8, 20, 500]),
        (at * at * at, [12, 270, 7500]),
        (power(at, -2), [Fraction(-2, 8), Fraction(20, 27), Fraction(-200, 125)]),
        (Sum(j, x[j.dim] * y[i.dim]), [417, 417, 417]),
        (Product(j, x[j.dim]), [-15 * 111, 10 * 111, -6 * 111]),
        (Greatest(j, x[j.dim]), [0, 0, 111]),
        (where(positive(at), 3 * at, at), [3, 10, 300]),
        (apply("abs", at), [1, -10, 100]),
        (apply("floor", at), [0, 0, 0]),
        (x[N - 1 - i.dim], [100, 10, 1]),
        (x[Dim.of(1)], [0, 111, 0]),
        (x[lookup("t", (i.dim,), N)], [0, 1, 110]),
    ]
    for node, result in expected:
        assert gradient(node, {**values, "t": [1, 2, 2]}, g) == result, node


def test_the_gradient_of_a_tie_is_split_evenly() -> None:
    assert gradient(Greatest(j, x[j.dim]), {"x": [4, 1, 4]}) == [Fraction(3, 2), 0, Fraction(3, 2)]


def test_a_running_maximum_or_product_ends_at_its_own_place() -> None:
    up_to = fresh_index(i.dim + 1)
    values = {"x": [2, 1, 5, 3]}
    assert gradient(Greatest(up_to, x[up_to.dim]), values, [1, 10, 100, 1000]) == [11, 0, 1100, 0]
    assert gradient(Product(up_to, x[up_to.dim]), values, [1, 10, 100, 0]) == [511, 1020, 200, 0]
    assert gradient(Sum(up_to, x[up_to.dim]), values, [1, 10, 100, 1000]) == [1111, 1110, 1100, 1000]


def test_a_product_with_a_zero_has_the_product_of_the_others() -> None:
    assert gradient(Product(j, x[j.dim]), {"x": [0, 2, 3]}, [1, 0, 0]) == [6, 0, 0]
    assert gradient(Product(j, x[j.dim]), {"x": [0, 2, 0]}, [1, 0, 0]) == [0, 0, 0]


def test_the_branch_that_is_not_chosen_needs_no_slope() -> None:
    root = where(zero(at), 0, power(at * at, -1))
    assert gradient(root, {"x": [0, 2]}) == [0, Fraction(-1, 4)]
    guarded = bracket(index_nonnegative(i.dim - 1)) * x[i.dim - 1] * at
    assert gradient(guarded, {"x": [3, 5, 7]}) == [5, 10, 5]


def test_masked_scores_have_no_gradient() -> None:
    flags = Variable("b", (N,), "bool")
    scores = apply("exp", where(Flag(flags, (i.dim,)), at, -INFINITY))
    softmax = scores / Sum(i, scores)
    found = gradients(
        softmax, [i], [1.0, 2, 3], ["x"], Floats(), {"n": 3}, {"x": [0.5, 1, 2], "b": [True, False, True]}
    )["x"]
    weights = np.exp([0.5, 2.0])
    weights /= weights.sum()
    share = weights[0] * weights[1] * (1 - 3)
    np.testing.assert_allclose(found.data, [share, 0, -share])
    assert not found.reasons.any()


def test_an_intermediate_passes_its_gradient_on_unless_it_is_asked_for() -> None:
    square = Variable("z", (N,), definition=((j,), x[j.dim] ** 2))
    node = square[i.dim] * at
    assert gradient(node, {"x": [1, 2, 3]}) == [3, 12, 27]
    found = gradients(node, [i], [1, 1], ["x", "z"], Fractions(), {"n": 2}, {"x": [1, 2]})
    assert [list(found[name].data) for name in ("x", "z")] == [[1, 4], [1, 2]]


def test_an_intermediate_that_is_given_is_no_function_of_others() -> None:
    square = Variable("z", (N,), definition=((j,), x[j.dim] ** 2))
    assert gradient(square[i.dim] * at, {"x": [1, 2], "z": [7, 8]}) == [7, 8]


def test_an_intermediate_of_an_intermediate() -> None:
    square = Variable("z", (N,), definition=((j,), x[j.dim] ** 2))
    k = fresh_index(N)
    fourth = Variable("w", (N,), definition=((k,), square[k.dim] * square[k.dim]))
    assert gradient(fourth[i.dim] + square[i.dim], {"x": [1, 2, 3]}) == [6, 36, 114]


def test_an_intermediate_with_an_axis_of_size_1_or_a_merged_one() -> None:
    row = Variable("z", (Dim.of(1), N), definition=((j,), x[j.dim] ** 2))
    assert gradient(row[Dim.of(0), i.dim] * 2, {"x": [1, 2, 3]}) == [4, 8, 12]
    k = fresh_index(2)
    flat = Variable("w", (N * 2,), definition=((j, k), x[j.dim] * (1 + 10 * real(k.dim))))
    assert gradient(flat[i.dim * 2 + 1], {"x": [1, 2, 3]}) == [11, 11, 11]
    assert gradient(flat[i.dim], {"x": [1, 2, 3]}) == [12, 1, 0]


def test_a_gradient_may_be_nested_deeper_than_the_stack() -> None:
    node = at
    for _ in range(600):
        node = apply("abs", node - 1)
    assert gradient(node, {"x": [700, Fraction(-1, 2)]}) == [1, -1]


def test_a_tensor_that_does_not_matter_has_a_gradient_of_zeros() -> None:
    assert gradient(at, {"x": [1, 2], "y": [3, 4]}, of="y") == [0, 0]


def test_a_slope_without_a_value_is_told() -> None:
    found = gradients(power(at, Fraction(1, 2)), [i], [1, 1], ["x"], Fractions(), {"n": 2}, {"x": [0, 4]})["x"]
    assert found.reasons.tolist() == [Reason.DIVISION, 0]
    with pytest.raises(Undefined):
        gradients(power(at, -1), [i], [1, 1], ["x"], Fractions(), {"n": 2}, {"x": [0, 4]})


@settings(max_examples=60)
@given(expressions(), points())
def test_the_gradient_is_the_slope_of_every_direction(node: Expr, values: dict[str, list[Fraction]]) -> None:
    """Central differences of a rational function, at a distance at which no branch changes, by Richardson's limit."""
    with_kinks = "if" in str(node) or "max" in str(node)
    if with_kinks:
        return
    found = gradients(node, [AT], [1, 2, 3], ["x"], Balls(200), {"n": 3}, values)["x"]
    step = Fraction(1, 2**60)
    direction = [Fraction(3), Fraction(-2), Fraction(5)]

    def at_distance(distance: Fraction) -> Fraction:
        moved = [value + distance * each for value, each in zip(values["x"], direction)]
        result = evaluate(node, [AT], Fractions(), {"n": 3}, {**values, "x": moved})
        return sum((weight * each for weight, each in zip([1, 2, 3], result)), Fraction(0))

    difference = float((at_distance(step) - at_distance(-step)) / (2 * step))
    slope = sum(float(each) * float(way) for each, way in zip(found.data, direction))
    assert slope == pytest.approx(difference, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "function, point",
    [(name, 0.7) for name in ["exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"]]
    + [(name, 0.7) for name in ["asinh", "atanh", "sigmoid", "erf", "erfinv", "lgamma", "abs"]]
    + [("acosh", 1.7), ("lgamma", -1.3), ("tan", -2.0)],
)
def test_the_slopes_of_the_elementary_functions(function: str, point: float) -> None:
    node = apply(function, at)
    slope = gradients(node, [i], [1], ["x"], Balls(256), {"n": 1}, {"x": [point]})["x"].data[0]
    step = Fraction(1, 2**40)
    ends = [evaluate(node, [i], Balls(256), {"n": 1}, {"x": [Fraction(point) + each]})[0] for each in (step, -step)]
    with Balls(256).computing():
        difference = (ends[0] - ends[1]) / float(2 * step)
    assert float(slope) == pytest.approx(float(difference), rel=1e-12)
