"""The laws of arithmetic modulo a prime, and of the images of functions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shaped.spec.evaluation import evaluate_where_defined
from shaped.spec.expr import Expr
from shaped.spec.scalars.field import Field
from shaped.spec.scalars.field_number import PRIME, FieldNumber, constant, residue_of
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason, Undefined
from tests.spec.scalars.expressions import AT, expressions, points

FIELD = Field(seed=1)
NAMES = {"a": 0.5, "b": 1.25, "c": 2.0, "d": -0.75}
A, B, C, D = (FIELD.variable(name, shadow) for name, shadow in NAMES.items())
HALF = Fraction(1, 2)


def number(value: int | Fraction) -> FieldNumber:
    return constant(Fraction(value))


def minus(value: FieldNumber) -> FieldNumber:
    return number(-1) * value


def power(base: FieldNumber, exponent: int | Fraction) -> FieldNumber:
    return FIELD.power_of(base, Fraction(exponent))


def of(function: str, argument: FieldNumber) -> FieldNumber:
    return FIELD.function_of(function, argument)


def combinations() -> st.SearchStrategy[FieldNumber]:
    """Polynomials of the variables with small rational coefficients."""
    coefficient = st.builds(Fraction, st.integers(-4, 4), st.integers(1, 4))
    product = st.lists(st.sampled_from([A, B, C, D]), max_size=2)
    return st.lists(st.tuples(coefficient, product), min_size=1, max_size=3).map(_combined)


def _combined(terms: list[tuple[Fraction, list[FieldNumber]]]) -> FieldNumber:
    total = number(0)
    for coefficient, factors in terms:
        term = number(coefficient)
        for factor in factors:
            term = term * factor
        total = total + term
    return total


@settings(max_examples=40)
@given(combinations(), combinations(), combinations())
def test_the_laws_of_a_ring(x: FieldNumber, y: FieldNumber, z: FieldNumber) -> None:
    assert (x + y).residue == (y + x).residue
    assert ((x + y) + z).residue == (x + (y + z)).residue
    assert ((x * y) * z).residue == (x * (y * z)).residue
    assert (x * (y + z)).residue == (x * y + x * z).residue
    assert (x + minus(x)).residue == 0
    assert all(0 <= each.residue < PRIME for each in (x, x + y, x * y))


@settings(max_examples=40)
@given(combinations())
def test_the_inverse(x: FieldNumber) -> None:
    assume(x.residue and x.shadow)
    assert (x * power(x, -1)).residue == 1


@settings(max_examples=40)
@given(expressions(), points())
def test_rational_values_are_those_of_fractions(node: Expr, values: dict[str, list[Fraction]]) -> None:
    exact = evaluate_where_defined(node, [AT], Fractions(), {"n": 3}, values)
    field = evaluate_where_defined(node, [AT], Field(), {"n": 3}, values)
    if "if" in str(node) or "max" in str(node):
        return  # the shadow may round to the other side
    assert [each.residue for each in field.data] == [residue_of(each) for each in exact.data]


@settings(max_examples=40)
@given(combinations(), combinations())
def test_exp_turns_sums_into_products(x: FieldNumber, y: FieldNumber) -> None:
    assert of("exp", x + y).residue == (of("exp", x) * of("exp", y)).residue
    assert (of("exp", x) * of("exp", minus(x))).residue == 1
    assert power(of("exp", number(HALF) * x), 2).residue == of("exp", x).residue
    assert power(of("exp", x), Fraction(3, 2)).residue == of("exp", number(Fraction(3, 2)) * x).residue
    assert of("log", of("exp", x)).residue == x.residue


@settings(max_examples=40)
@given(combinations(), combinations(), combinations())
def test_exp_finds_a_product_that_is_multiplied_out(x: FieldNumber, y: FieldNumber, z: FieldNumber) -> None:
    assert of("exp", (x + y) * z).residue == (of("exp", x * z) * of("exp", y * z)).residue


def test_log_turns_products_into_sums_and_exp_undoes_it() -> None:
    assert of("log", A * B).residue == (of("log", A) + of("log", B)).residue
    assert of("log", power(A, -3)).residue == (number(-3) * of("log", A)).residue
    assert of("log", number(6)).residue == (of("log", number(2)) + of("log", number(3))).residue
    for base in [A, B, C, A + B, A * C, number(5), number(Fraction(2, 7))]:
        assert of("exp", of("log", base)).residue == base.residue
    assert of("exp", C + minus(of("log", A))).residue == (of("exp", C) * power(A, -1)).residue
    assert of("log", minus(D)).residue == of("log", number(-1) * D).residue
    assert of("log", number(1)).residue == 0


def test_the_sum_of_a_softmax_is_1() -> None:
    scores = [A, B, D * C]
    log_sum = of("log", of("exp", A) + of("exp", B) + of("exp", D * C))
    total = number(0)
    for score in scores:
        total = total + of("exp", score + minus(log_sum))
    assert total.residue == 1


def test_hyperbolic_functions_come_from_exp() -> None:
    square = power(of("cosh", A), 2) + minus(power(of("sinh", A), 2))
    assert square.residue == 1
    assert of("tanh", A).residue == (of("sinh", A) * power(of("cosh", A), -1)).residue
    twice = number(2) * of("sigmoid", number(2) * A) + number(-1)
    assert of("tanh", A).residue == twice.residue
    assert (of("sigmoid", A) + of("sigmoid", minus(A))).residue == 1


def test_sine_and_cosine_lie_on_the_circle() -> None:
    assert (power(of("sin", A), 2) + power(of("cos", A), 2)).residue == 1
    assert (of("tan", A) * of("cos", A)).residue == of("sin", A).residue


@pytest.mark.parametrize("function", ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "erfinv"])
def test_odd_functions(function: str) -> None:
    assert of(function, minus(A)).residue == minus(of(function, A)).residue
    assert of(function, A).residue != of(function, number(HALF)).residue
    assert of(function, number(0)).residue == 0


def test_even_functions() -> None:
    assert of("cos", minus(A)).residue == of("cos", A).residue
    assert of("cosh", minus(A)).residue == of("cosh", A).residue
    assert of("cos", number(0)).residue == of("exp", number(0)).residue == 1
    assert of("abs", D).residue == minus(D).residue


def test_a_root_squares_to_its_number_where_there_is_one() -> None:
    bases = [FIELD.variable(f"base {count}", 2.0) for count in range(30)]
    squares = [base for base in bases if pow(base.residue, (PRIME - 1) // 2, PRIME) == 1]
    assert 5 < len(squares) < 25
    for base in squares:
        root = power(base, HALF)
        assert (root * root).residue == base.residue
        assert (root * power(base, -HALF)).residue == 1
        assert power(base, Fraction(3, 4)).residue == power(power(root, HALF), 3).residue
    for base in set(bases) - set(squares):
        with pytest.raises(Undefined, match="does not know"):
            power(base, HALF)


def test_the_root_of_a_square_is_the_magnitude() -> None:
    for each in (A, D):
        assert power(power(each, 2), HALF).residue == of("abs", each).residue


def test_different_functions_and_arguments_have_different_images() -> None:
    values = [of(name, each).residue for name in ("exp", "sin", "erf", "digamma", "tanh") for each in (A, B, A * B)]
    assert len(set(values)) == len(values)
    assert of("exp", A * A).residue != of("exp", A).residue * of("exp", A).residue % PRIME
    assert Field(seed=2).variable("a", 0.5).residue != A.residue


@pytest.mark.parametrize(
    "compute, reason",
    [
        (lambda: of("log", D), Reason.DOMAIN),
        (lambda: power(D, HALF), Reason.ROOT),
        (lambda: power(A + minus(A), -1), Reason.DIVISION),
        (lambda: of("exp", number(Fraction(1, 31)) * A), Reason.UNSUPPORTED),
        (lambda: FIELD.sign_of(FieldNumber(5, 0.0)), Reason.UNDECIDED),
        (lambda: FIELD.sign_of(FieldNumber(5, -1e-15)), Reason.UNDECIDED),
    ],
)
def test_what_has_no_value(compute: object, reason: Reason) -> None:
    with pytest.raises(Undefined) as caught:
        compute()  # type: ignore[operator]  # rows of a table
    assert caught.value.reason is reason


def test_the_shadow_decides_comparisons_and_a_residue_of_0_is_0() -> None:
    assert [FIELD.sign_of(each) for each in (A, D, A + minus(A))] == [1, -1, 0]
    assert of("floor", number(Fraction(-7, 2))).residue == residue_of(Fraction(-4))
