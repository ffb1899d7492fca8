"""Expression nodes are immutable, one for equal fields, and know their free indices."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaped.spec.dims import Dim
from shaped.spec.expr import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Add,
    Constant,
    Multiply,
    Sum,
    Variable,
    apply,
    bracket,
    index_nonnegative,
    index_zero,
    negation,
    positive,
    power,
    real,
    where,
    zero,
)
from shaped.spec.index import fresh_index
from shaped.spec.substitution import substitute

N, M = Dim.name("n"), Dim.name("m")
X = Variable("x", (N,))
ROW, COLUMN = fresh_index(N, "i"), fresh_index(M, "j")


def test_equal_nodes_are_one_object() -> None:
    assert X[ROW.dim] + 1 is X[ROW.dim] + 1
    assert Sum(ROW, X[ROW.dim] * 2) is Sum(ROW, X[ROW.dim] * 2)
    assert X[ROW.dim] is not X[N - 1]


def test_nodes_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        X[ROW.dim].variable = Variable("y", (N,))  # type: ignore[misc]  # the fault that is tested


def test_constants_are_joined_and_sums_and_products_opened() -> None:
    x = X[ROW.dim]
    assert (x + 1) + (x + 2) is Add((x, x, Constant(Fraction(3))))
    assert (2 * x) * (3 * x) is Multiply((Constant(Fraction(6)), x, x))
    assert x * 0 is ZERO
    assert x + 0 is x
    assert x * 1 is x
    assert x / 2 is Constant(Fraction(1, 2)) * x


def test_powers_of_constants_are_numbers_and_zero_has_no_inverse() -> None:
    assert power(real(2), -3) is Constant(Fraction(1, 8))
    assert power(X[ROW.dim], 0) is ONE
    assert power(X[ROW.dim], 1) is X[ROW.dim]
    with pytest.raises(ZeroDivisionError):
        power(ZERO, -1)


def test_what_is_bound_is_not_free() -> None:
    body = X[ROW.dim] * COLUMN.dim
    assert body.free == {ROW, COLUMN}
    assert Sum(ROW, body).free == {COLUMN}


def test_the_size_of_a_bound_index_may_have_free_indices() -> None:
    below = fresh_index(ROW.dim + 1)
    assert Sum(below, X[below.dim]).free == {ROW}


def test_conditions_on_constants_are_decided() -> None:
    assert positive(1) is TRUE
    assert zero(Fraction(1, 2)) is FALSE
    assert index_zero(N - N) is TRUE
    assert index_nonnegative(Dim.of(-1)) is FALSE
    condition = positive(X[ROW.dim])
    assert condition & TRUE is condition
    assert condition & FALSE is FALSE
    assert condition | TRUE is TRUE
    assert ~~condition is condition


def test_a_choice_between_equal_values_is_no_choice() -> None:
    condition = positive(X[ROW.dim])
    assert where(condition, X[ROW.dim], X[ROW.dim]) is X[ROW.dim]
    assert where(TRUE, 1, 2) is ONE
    assert where(negation(condition), 1, 2) is where(condition, 2, 1)


def test_only_elementary_functions_are_applied() -> None:
    with pytest.raises(AssertionError, match="frobnicate"):
        apply("frobnicate", ONE)


def test_a_replaced_index_is_not_captured_by_a_sum() -> None:
    product = Sum(COLUMN, X[ROW.dim] * COLUMN.dim)
    replaced = substitute(product, {ROW: COLUMN.dim})
    assert replaced.free == {COLUMN}
    assert isinstance(replaced, Sum)
    assert replaced.index != COLUMN


def test_a_bound_index_is_not_replaced() -> None:
    total = Sum(ROW, X[ROW.dim])
    assert substitute(total, {ROW: N - 1}) is total


def test_a_replaced_size_changes_the_range_of_a_sum() -> None:
    size = N.symbol
    assert size is not None
    replaced = substitute(Sum(ROW, X[ROW.dim]), {size: Dim.of(3)})
    assert isinstance(replaced, Sum)
    assert replaced.index.size == 3


def test_expressions_print_as_people_write_them() -> None:
    x = X[ROW.dim]
    assert str((x - 1) ** 2 / N) == "(x[i] - 1)^2/n"
    assert str(Sum(ROW, x * x)) == "(sum over i < n of x[i]*x[i])"
    assert str(-x + 2) == "-x[i] + 2"
    assert str(bracket(positive(x))) == "[x[i] > 0]"
    assert str(where(index_nonnegative(ROW.dim - 1), x, apply("exp", x))) == "(x[i] if i-1 >= 0 else exp(x[i]))"
    assert str(power(x, Fraction(-1, 2))) == "1/x[i]^(1/2)"
