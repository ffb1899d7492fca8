"""The error bound covers every float kernel, in any order of summation, and is not much larger than the error."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.dims import Dim
from shaped.spec.evaluation import evaluate, evaluate_where_defined
from shaped.spec.expr import FUNCTIONS, PI, Expr, Greatest, Sum, Variable, apply, power, real, where
from shaped.spec.expr import positive as is_positive
from shaped.spec.index import fresh_index
from shaped.spec.scalars.balls import Balls, ball_of, function_of
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.running_error import BFLOAT16, FLOAT32, FLOAT64, Format, Rounded, RunningErrors
from shaped.spec.scalars.system import Array, ObjectScalars
from tests.spec.scalars.expressions import AT, SMOOTH, expressions, points

U = FLOAT32.unit
N = Dim.name("n")
x, y, i = Variable("x", (N,)), Variable("y", (N,)), fresh_index(N, "i")


class Kernel(ObjectScalars):
    """Arithmetic of 32 bits as a kernel may do it: each operation rounded, sums in a random order."""

    name = "float32"

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def constant(self, value: Fraction) -> Any:
        return np.float32(float(value))

    def pi(self) -> Any:
        return np.float32(math.pi)

    def given(self, value: Any) -> Any:
        return np.float32(float(value))

    def total(self, values: Array, axis: int) -> Array:
        order = list(range(values.shape[axis]))
        self.random.shuffle(order)
        parts = [np.take(values, place, axis) for place in order]
        while len(parts) > 1:
            last = parts.pop()
            at = self.random.randrange(len(parts))
            parts[at] = np.add(parts[at], last)
        return np.asarray(parts[0], dtype=object)

    def power_of(self, base: Any, exponent: Fraction) -> Any:
        if exponent == -1:
            return np.float32(1) / base
        return np.float32(float(base) ** float(exponent))

    def function_of(self, function: str, argument: Any) -> Any:
        return np.float32(Floats().apply(function, np.array([float(argument)]))[0][0])

    def sign_of(self, value: Any) -> int:
        return int(np.sign(value))


def bound(node: Expr, given: dict[str, Any], size: int = 3, of: Format = FLOAT32) -> Rounded:
    """The only value of an expression without indices."""
    result: Rounded = evaluate(node, [], RunningErrors(of), {"n": size}, given).item()
    return result


@settings(max_examples=60)
@given(expressions(SMOOTH), points(), st.integers(0, 1000))
@np.errstate(all="ignore")
def test_the_bound_covers_a_kernel_of_32_bits(node: Expr, values: dict[str, list[Fraction]], seed: int) -> None:
    if "if" in str(node):
        return  # a comparison of rounded numbers may choose another branch
    exact = evaluate_where_defined(node, [AT], RunningErrors(FLOAT32), {"n": 3}, values)
    kernel = evaluate_where_defined(node, [AT], Kernel(seed), {"n": 3}, values)
    for at in range(3):
        true, computed = exact.data[at], kernel.data[at]
        if exact.reasons[at] or not np.isfinite(computed) or math.isinf(true.bound):
            continue
        assert float(abs(true.exact - float(computed))) <= true.bound


@pytest.mark.parametrize("count", [2, 10, 100])
def test_a_sum_is_bounded_by_the_classic_formula(count: int) -> None:
    ones = bound(Sum(i, x[i.dim]), {"x": [1] * count}, count)
    assert ones.bound == pytest.approx((count - 1) * count * U, rel=1e-4)
    nested = bound(Sum(i, x[i.dim] + y[i.dim]), {"x": [1] * count, "y": [1] * count}, count)
    assert nested.bound == pytest.approx((2 * count - 1) * 2 * count * U, rel=1e-4)


def test_the_bound_of_one_operation() -> None:
    """Each is an operation of numbers that are exact: what IEEE 754 says, or the documented error of the function."""
    first, second = x[Dim.of(0)], x[Dim.of(1)]
    given = {"x": [3, 7]}
    expected = {
        first + second: 10 * U,
        first * second: 21 * U,
        (first + second) * first: 30 * (1 + 2) * U,  # of the sum, and of a product that may be multiplied out
        power(first, -1): (1 / 3) * 2 * U,
        first / second: (3 / 7) * (2 + 1) * U,
        power(second, 2): 49 * 4 * U,
        power(first, Fraction(1, 2)): 3**0.5 * 2 * U,
        apply("log", first): math.log(3) * 4 * U,
        apply("tanh", first): math.tanh(3) * 4 * U,
        apply("exp", first): math.exp(3) * (4 + 2 * 3) * U,
    }
    for node, size in expected.items():
        assert bound(node, given, 2).bound == pytest.approx(size, rel=1e-3), node


def test_the_error_of_a_factor_is_that_of_the_product() -> None:
    first, second = x[Dim.of(0)], x[Dim.of(1)]
    root = power(first, Fraction(1, 2))
    product = bound(root * second, {"x": [2, 8]}, 2)
    assert product.bound == pytest.approx(2**0.5 * 8 * (2 + 1) * U, rel=1e-3)
    assert bound(second * root, {"x": [2, 8]}, 2).bound == product.bound


def test_a_common_factor_may_be_taken_out() -> None:
    first, second = x[Dim.of(0)], x[Dim.of(1)]
    together = bound(first + first * second, {"x": [3, Fraction(5, 8)]}, 2)
    assert together.bound >= 2 * 3 * (1 + 5 / 8) * U  # of `first * (1 + second)`


def test_cancellation_leaves_the_error_of_the_terms() -> None:
    small = bound(Sum(i, x[i.dim]), {"x": [10**6, -(10**6), Fraction(1, 8)]})
    assert float(small.exact) == 0.125
    assert small.bound == pytest.approx(2 * (2e6 + 0.125) * U, rel=1e-4)


def test_what_only_moves_or_selects_is_exact() -> None:
    given = {"x": [1, -2, Fraction(1, 4)]}
    first = x[Dim.of(0)]
    relu = where(is_positive(first), first, 0)
    for node in [first, -first, Greatest(i, x[i.dim]), relu, first * 1 + 0, apply("abs", first)]:
        assert bound(node, given).bound == 0, node


def test_terms_that_a_bracket_takes_away_do_not_count() -> None:
    only_first = Sum(i, where(is_positive(x[i.dim]), x[i.dim], 0))
    assert bound(only_first, {"x": [3, -1, -1]}).bound == 0


def test_a_constant_is_rounded_unless_the_format_holds_it() -> None:
    assert bound(real(Fraction(1, 8)), {}).bound == 0
    assert bound(real(Fraction(1, 3)), {}).bound == pytest.approx(U / 3, rel=1e-6)
    assert bound(real(2**24 + 1), {}).bound > 0
    assert bound(real(2**24 + 1), {}, of=FLOAT64).bound == 0
    assert bound(PI, {}).bound == pytest.approx(math.pi * U, rel=1e-6)


def test_the_piece_of_a_function_that_needs_no_rounding_may_come_out_of_the_formula_of_another() -> None:
    first = x[Dim.of(0)]
    hardswish = where(is_positive(first - 3), first, first * (first + 3) / 6)
    piece = bound(hardswish, {"x": [5]}, 1)
    assert 0 < piece.bound <= 5 * 5 * U
    assert bound(where(is_positive(first - 3), 0, first * first), {"x": [5]}, 1).bound == 0


def test_an_error_in_the_argument_is_multiplied_by_the_steepest_slope() -> None:
    total = Sum(i, x[i.dim])
    argument, value = (bound(node, {"x": [4, 4, 4]}) for node in (total, apply("exp", total)))
    assert value.bound == pytest.approx(math.exp(12) * (argument.bound + (4 + 2 * 12) * U), rel=1e-3)


def test_a_softmax_that_shifts_its_scores_is_as_good_as_one_that_does_not() -> None:
    scores = {"x": [-16, Fraction(1, 2), 3]}
    weight = bound(apply("exp", x[Dim.of(0)]) / Sum(i, apply("exp", x[i.dim])), scores)
    rounding_of_the_shifted_score = abs(-16 - 3) * U
    assert weight.bound >= float(weight.exact) * rounding_of_the_shifted_score


@pytest.mark.parametrize("function", sorted(FUNCTIONS - {"sign", "floor", "round"}))
def test_the_bound_covers_what_the_error_of_the_argument_makes(function: str) -> None:
    point = 1.6 if function == "acosh" else 0.7
    terms = {"x": [point, 2**15, -(2**15)]}  # which cancel, so the error of the sum is much more than that of a value
    argument = bound(Sum(i, x[i.dim]), terms)
    value = bound(apply(function, Sum(i, x[i.dim])), terms)
    with Balls().computing():
        ends = [function_of(function, argument.exact + sign * argument.bound) for sign in (-1, 1)]
        reached = max(float(abs(end - value.exact)) for end in ends)
    assert reached <= value.bound <= 2.5 * reached + 100 * U


def test_where_rounding_may_change_a_value_without_limit_there_is_no_bound() -> None:
    total = Sum(i, x[i.dim])
    near_zero = {"x": [10**6, -(10**6), Fraction(1, 2**20)]}
    assert math.isinf(bound(power(total, -1), near_zero).bound)
    assert math.isinf(bound(apply("log", total), near_zero).bound)
    assert math.isinf(bound(apply("floor", total), {"x": [10**6, -(10**6), 1]}).bound)
    assert bound(apply("floor", total), {"x": [1, 1, Fraction(1, 2)]}).bound == 0


def test_a_wider_format_has_a_smaller_bound() -> None:
    node = apply("tanh", Sum(i, x[i.dim] * x[i.dim]))
    bounds = [
        bound(node, {"x": [1, Fraction(1, 2), Fraction(1, 4)]}, of=of).bound for of in (BFLOAT16, FLOAT32, FLOAT64)
    ]
    assert bounds[0] > 2**14 * bounds[1] > 2**40 * bounds[2] > 0


def test_the_exact_value_is_enclosed_as_by_balls() -> None:
    third = bound(real(Fraction(1, 3)) * 3, {})
    assert third.exact.overlaps(ball_of(1))
    assert third.exact.rel_accuracy_bits() > 120


def test_an_exact_zero_by_cancellation_still_has_the_error_of_its_terms() -> None:
    # A kernel may compute (x - x) * r as x * r - x * r, rounded twice.
    first = x[Dim.of(0)]
    assert bound((first - first) * y[Dim.of(0)], {"x": [3], "y": [5]}, 1).bound > 30 * U


def test_a_condition_that_rounding_may_change_has_no_value() -> None:
    first, second, third = (x[Dim.of(place)] for place in range(3))

    def is_decided(value: Expr, given: list[float]) -> bool:
        chosen = where(is_positive(value), 1, 2)
        result = evaluate_where_defined(chosen, [], RunningErrors(FLOAT32), {"n": 3}, {"x": given})
        return not result.reasons.any()

    assert is_decided(first - second, [1.0, 1.0 + 2**-23, 0.0])
    assert is_decided(first - second, [1.0, 1.0, 0.0])
    assert is_decided(first + second + third, [1.0, 1.0, -1.0])
    assert not is_decided(first + second + third, [1.0, 2**-23, -1.0])
    assert not is_decided(first * second - third, [1 / 3, 3.0, 1.0])
    assert is_decided(first * second - third, [1 / 3, 3.0, 1.001])
