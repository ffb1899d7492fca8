"""Enclosures hold the true value, and shrink with the precision."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.evaluation import evaluate, evaluate_where_defined
from shaped.spec.expr import FUNCTIONS, PI, apply, positive, power, real, where, zero
from shaped.spec.scalars.balls import Balls, ball_of, function_of, power_of, sign_of
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason, Undecided, Undefined
from tests.spec.scalars.expressions import AT, SMOOTH, expressions, points

dyadic = st.integers(-96, 96).map(lambda whole: Fraction(whole, 32))


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_an_elementary_function_is_enclosed_and_has_its_domain(function: str) -> None:
    for whole in range(-24, 25):
        x = Fraction(whole, 8)
        values, reasons = Floats().apply(function, np.array([float(x)]))
        with Balls().computing():
            if reasons is not None:
                with pytest.raises(Undefined):
                    function_of(function, ball_of(x))
            else:
                ball = function_of(function, ball_of(x))
                assert abs(float(ball) - values[0]) <= 1e-13 * max(1.0, abs(values[0])), x
                assert float(ball.rad()) <= 2.0**-100 * max(1.0, abs(values[0])), x


@settings(max_examples=60)
@given(x=dyadic, exponent=st.sampled_from([-3, -1, 2, 5, Fraction(1, 2), Fraction(-3, 2), Fraction(1, 3)]))
def test_powers_are_enclosed_and_have_their_domain(x: Fraction, exponent: Fraction) -> None:
    exponent = Fraction(exponent)
    values, reasons = Floats().power(np.array([float(x)]), exponent)
    if reasons is not None:
        with pytest.raises(Undefined) as caught:
            power_of(ball_of(x), exponent)
        assert caught.value.reason == reasons[0]
    else:
        assert float(power_of(ball_of(x), exponent)) == pytest.approx(values[0], rel=1e-13)


@settings(max_examples=40)
@given(expressions(), points())
def test_a_rational_value_lies_in_its_ball(node: object, values: dict[str, list[Fraction]]) -> None:
    exact = evaluate_where_defined(node, [AT], Fractions(), {"n": 3}, values)  # type: ignore[arg-type]
    balls = evaluate_where_defined(node, [AT], Balls(), {"n": 3}, values)  # type: ignore[arg-type]
    for at in range(3):
        if not exact.reasons[at] and not balls.reasons[at]:
            with Balls(512).computing():
                assert balls.data[at].overlaps(ball_of(exact.data[at]))


@settings(max_examples=40)
@given(expressions(SMOOTH), points())
def test_a_higher_precision_gives_a_smaller_ball_that_overlaps(node: object, values: dict[str, list[Fraction]]) -> None:
    wide = evaluate_where_defined(node, [AT], Balls(64), {"n": 3}, values)  # type: ignore[arg-type]
    narrow = evaluate_where_defined(node, [AT], Balls(256), {"n": 3}, values)  # type: ignore[arg-type]
    for at in range(3):
        if not wide.reasons[at]:
            assert not narrow.reasons[at]
            assert wide.data[at].overlaps(narrow.data[at])
            assert narrow.data[at].rad() <= wide.data[at].rad()


def test_a_comparison_of_overlapping_balls_is_undecided_and_an_exact_tie_is_none() -> None:
    assert sign_of(arb(0)) == 0
    with pytest.raises(Undefined) as caught:
        sign_of(arb(0, 1))
    assert caught.value.reason is Reason.UNDECIDED
    tie = zero(power(real(2), Fraction(1, 2)) - power(real(2), Fraction(1, 2)))
    with pytest.raises(Undecided, match="too close to 0"):
        evaluate(tie, [], Balls(), {}, {})
    assert evaluate(where(zero(real(3) - 3), 1, 2), [], Balls(), {}, {}).item() == 1


def test_a_ball_that_reaches_out_of_a_domain_has_no_value() -> None:
    for compute in [
        lambda: power_of(arb(0.1, 0.2), Fraction(1, 2)),
        lambda: power_of(arb(0.1, 0.2), Fraction(-1)),
        lambda: function_of("log", arb(0.1, 0.2)),
        lambda: function_of("atanh", arb(0.9, 0.2)),
        lambda: function_of("floor", arb(1, 0.2)),
    ]:
        with pytest.raises(Undefined) as caught:
            compute()
        assert caught.value.reason is Reason.UNDECIDED


def test_a_branch_that_is_not_chosen_may_be_undecided() -> None:
    undecided = where(positive(power(real(2), Fraction(1, 2)) - power(real(2), Fraction(1, 2))), 1, 2)
    assert evaluate(where(positive(real(1)), 5, undecided), [], Balls(), {}, {}).item() == 5


def test_the_precision_holds_for_the_whole_evaluation_and_not_longer() -> None:
    from flint import ctx

    before = ctx.prec
    root = evaluate(power(PI, Fraction(1, 2)), [], Balls(500), {}, {}).item()
    assert root.rel_accuracy_bits() > 480
    assert ctx.prec == before
    assert float(root) == 1.772453850905516


def test_rounding_at_halves_goes_to_even() -> None:
    for value, expected in [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (2.25, 2), (-2.75, -3)]:
        assert function_of("round", arb(value)) == expected
    with pytest.raises(Undefined):
        function_of("round", arb(0.5, 0.1))
    assert evaluate(apply("floor", real(Fraction(-7, 2))), [], Balls(), {}, {}).item() == -4
