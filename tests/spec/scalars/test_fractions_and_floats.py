"""The laws of the exact and of the rounded numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaped.spec.evaluation import evaluate_where_defined
from shaped.spec.expr import FUNCTIONS
from shaped.spec.scalars.floats import Floats, digamma, erfinv
from shaped.spec.scalars.fractions import Fractions, rational_power
from shaped.spec.scalars.system import Reason, Undefined
from tests.spec.scalars.expressions import AT, expressions, points

fractions = st.builds(Fraction, st.integers(-60, 60), st.integers(1, 12))


@settings(max_examples=40)
@given(expressions(), points())
def test_floats_follow_fractions(node: object, values: dict[str, list[Fraction]]) -> None:
    exact = evaluate_where_defined(node, [AT], Fractions(), {"n": 3}, values)  # type: ignore[arg-type]
    rounded = evaluate_where_defined(node, [AT], Floats(), {"n": 3}, values)  # type: ignore[arg-type]
    assert not exact.reasons.any()
    # A branch on a number that is 0 but for rounding goes either way, so most of the entries are compared.
    close = [math.isclose(float(a), b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(exact.data, rounded.data)]
    assert all(close) or "if" in str(node) or float(max(map(abs, exact.data))) > 1e6


@given(fractions, st.integers(1, 4), st.integers(1, 4))
def test_a_rational_power_undoes_a_power(base: Fraction, numerator: int, root: int) -> None:
    positive = abs(base) + 1
    assert rational_power(positive**root, Fraction(numerator, root)) == positive**numerator
    assert rational_power(positive**root, Fraction(-numerator, root)) == positive**-numerator


@pytest.mark.parametrize(
    "base, exponent, reason",
    [
        (0, -1, Reason.DIVISION),
        (0, Fraction(-1, 2), Reason.DIVISION),
        (-4, Fraction(1, 2), Reason.ROOT),
        (2, Fraction(1, 2), Reason.IRRATIONAL),
        (Fraction(4, 3), Fraction(1, 2), Reason.IRRATIONAL),
    ],
)
def test_what_has_no_rational_power(base: Fraction, exponent: Fraction, reason: Reason) -> None:
    with pytest.raises(Undefined) as caught:
        rational_power(Fraction(base), Fraction(exponent))
    assert caught.value.reason is reason


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_a_rational_value_of_a_function_is_the_value(function: str) -> None:
    for x in [Fraction(whole, 4) for whole in range(-12, 13)]:
        floats, reasons = Floats().apply(function, np.array([float(x)]))
        exact = np.array([x], dtype=object)
        values, exact_reasons = Fractions().apply(function, exact)
        if exact_reasons is None:
            assert floats[0] == pytest.approx(float(values[0]), abs=1e-15), x
        else:
            assert (exact_reasons[0] == Reason.DOMAIN) == (reasons is not None), x


@given(st.floats(-0.999, 0.999))
def test_erfinv_undoes_erf(x: float) -> None:
    assert math.erf(erfinv(x)) == pytest.approx(x, rel=1e-14, abs=1e-300)


@given(st.floats(0.01, 30))
def test_digamma_keeps_its_recurrence_and_reflection(x: float) -> None:
    assert digamma(x + 1) == pytest.approx(digamma(x) + 1 / x, rel=1e-12, abs=1e-12)
    if abs(x - round(x)) > 1e-3:
        assert digamma(1 - x) == pytest.approx(digamma(x) + math.pi / math.tan(math.pi * x), rel=1e-9, abs=1e-9)
