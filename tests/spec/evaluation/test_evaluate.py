"""Values of expressions, against plain NumPy and by the rules of what needs a value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from shaped.spec.dims import Dim, minimum
from shaped.spec.evaluation import evaluate, evaluate_where_defined
from shaped.spec.expr import (
    INFINITY,
    ONE,
    PI,
    Exists,
    Expr,
    Flag,
    Greatest,
    Product,
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
from shaped.spec.index import fresh_index, lookup
from shaped.spec.scalars.floats import Floats
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason, Scalars, Undefined

M, N, K = Dim.name("m"), Dim.name("n"), Dim.name("k")
i, j, k = fresh_index(M, "i"), fresh_index(N, "j"), fresh_index(K, "k")
x, w, v = Variable("x", (M, K)), Variable("w", (K, N)), Variable("v", (M,))
SIZES = {"m": 2, "n": 3, "k": 4}
FLOATS, FRACTIONS = Floats(), Fractions()
RANDOM = np.random.default_rng(0)
X, W, V = RANDOM.normal(size=(2, 4)), RANDOM.normal(size=(4, 3)), RANDOM.normal(size=2)
GIVEN = {"x": X, "w": W, "v": V}
SYSTEMS = pytest.mark.parametrize("scalars", [FLOATS, FRACTIONS], ids=lambda system: system.name)
ROW = Sum(k, x[i.dim, k.dim])
PRODUCT = Sum(k, x[i.dim, k.dim] * w[k.dim, j.dim])


def floats(values: object) -> np.ndarray:
    return np.asarray(values).astype(np.float64)


@SYSTEMS
def test_a_matrix_product_in_the_order_of_the_requested_indices(scalars: Scalars) -> None:
    np.testing.assert_allclose(floats(evaluate(PRODUCT, [i, j], scalars, SIZES, GIVEN)), X @ W, rtol=1e-13)
    np.testing.assert_allclose(floats(evaluate(PRODUCT, [j, i], scalars, SIZES, GIVEN)), (X @ W).T, rtol=1e-13)


@SYSTEMS
def test_an_index_that_the_expression_lacks_repeats_it(scalars: Scalars) -> None:
    rows = evaluate(ROW, [j, i], scalars, SIZES, GIVEN)
    np.testing.assert_allclose(floats(rows), np.tile(X.sum(1), (3, 1)), rtol=1e-13)


@SYSTEMS
def test_products_and_the_greatest_along_an_index(scalars: Scalars) -> None:
    body = x[i.dim, k.dim]
    np.testing.assert_allclose(floats(evaluate(Product(k, body), [i], scalars, SIZES, GIVEN)), X.prod(1), rtol=1e-13)
    np.testing.assert_array_equal(floats(evaluate(Greatest(k, body), [i], scalars, SIZES, GIVEN)), X.max(1))


def test_fractions_are_exact() -> None:
    third = evaluate(ROW / 3, [i], FRACTIONS, {"m": 1, "k": 2}, {"x": [[Fraction(1, 7), 2]]})
    assert third.tolist() == [Fraction(5, 7)]


def test_a_body_without_the_index_counts_its_places() -> None:
    assert evaluate(Sum(k, ONE), [], FRACTIONS, SIZES, {}).item() == 4
    assert evaluate(Product(k, real(2)), [], FRACTIONS, SIZES, {}).item() == 16


def test_an_index_of_size_0() -> None:
    sizes, empty = {"m": 2, "k": 0}, {"x": np.zeros((2, 0))}
    body = x[i.dim, k.dim]
    assert evaluate(Sum(k, body), [i], FRACTIONS, sizes, empty).tolist() == [0, 0]
    assert evaluate(Product(k, body), [i], FRACTIONS, sizes, empty).tolist() == [1, 1]
    with pytest.raises(Undefined, match="the greatest of no numbers"):
        evaluate(Greatest(k, body), [i], FRACTIONS, sizes, empty)


@SYSTEMS
def test_a_size_that_depends_on_an_outer_index(scalars: Scalars) -> None:
    inner = fresh_index(k.dim + 1, "up_to")
    values = evaluate(Sum(inner, x[i.dim, inner.dim]), [i, k], scalars, SIZES, GIVEN)
    np.testing.assert_allclose(floats(values), X.cumsum(1), rtol=1e-13)
    greatest = evaluate(Greatest(inner, x[i.dim, inner.dim]), [i, k], scalars, SIZES, GIVEN)
    np.testing.assert_array_equal(floats(greatest), np.maximum.accumulate(X, 1))
    product = evaluate(Product(inner, x[i.dim, inner.dim]), [i, k], scalars, SIZES, GIVEN)
    np.testing.assert_allclose(floats(product), X.cumprod(1), rtol=1e-13)


def test_sizes_by_name_or_by_symbol() -> None:
    assert evaluate(real(M * N), [], FRACTIONS, SIZES, {}).item() == 6
    by_symbol = dict.fromkeys(M.symbols(), 5)
    assert evaluate(real(M + 1), [], FRACTIONS, by_symbol, {}).item() == 6


def test_places_with_floor_division_minima_and_remainders() -> None:
    place = real(k.dim // 2 + minimum(k.dim, 1) + k.dim % 3)
    assert evaluate(place, [k], FRACTIONS, SIZES, {}).tolist() == [0, 2, 4, 2]


def test_a_lookup_reads_the_integer_tensor() -> None:
    picked = x[i.dim, lookup("t", (i.dim,), K)]
    values = evaluate(picked, [i], FLOATS, SIZES, {**GIVEN, "t": [3, 1]})
    np.testing.assert_array_equal(values, [X[0, 3], X[1, 1]])


def test_a_lookup_in_a_lookup() -> None:
    inner = lookup("t", (lookup("s", (i.dim,), M),), K)
    assert evaluate(real(inner), [i], FRACTIONS, SIZES, {"s": [1, 0], "t": [3, 2]}).tolist() == [2, 3]


def test_an_intermediate_is_computed_from_its_definition() -> None:
    z = Variable("z", (M,), definition=((i,), ROW))
    other = fresh_index(M)
    np.testing.assert_allclose(evaluate(z[M - 1 - other.dim], [other], FLOATS, SIZES, GIVEN), X.sum(1)[::-1])


def test_an_intermediate_of_two_indices_keeps_their_order() -> None:
    z = Variable("z", (N, M), definition=((j, i), PRODUCT))
    np.testing.assert_allclose(evaluate(z[j.dim, i.dim], [j, i], FLOATS, SIZES, GIVEN), (X @ W).T)


@SYSTEMS
def test_a_branch_that_is_not_chosen_needs_no_value(scalars: Scalars) -> None:
    shifted = where(index_nonnegative(k.dim - 1), x[i.dim, k.dim - 1], 0)
    expected = np.pad(X, ((0, 0), (1, 0)))[:, :-1]
    np.testing.assert_array_equal(floats(evaluate(shifted, [i, k], scalars, SIZES, GIVEN)), expected)
    inverse = where(zero(v[i.dim]), 7, 1 / v[i.dim])
    assert floats(evaluate(inverse, [i], scalars, {"m": 2}, {"v": [0, 2]})).tolist() == [7, 0.5]


@SYSTEMS
def test_what_a_bracket_multiplies_needs_no_value_where_it_is_0(scalars: Scalars) -> None:
    inside = bracket(index_nonnegative(k.dim - 1)) * x[i.dim, k.dim - 1]
    expected = np.pad(X, ((0, 0), (1, 0)))[:, :-1]
    np.testing.assert_array_equal(floats(evaluate(inside, [i, k], scalars, SIZES, GIVEN)), expected)
    twice = (bracket(index_zero(i.dim - 5)) + bracket(index_zero(i.dim - 6))) * x[i.dim - 2, K]
    assert floats(evaluate(twice, [i], scalars, SIZES, GIVEN)).tolist() == [0, 0]


def test_a_number_that_happens_to_be_0_does_not_excuse_a_missing_value() -> None:
    with pytest.raises(Undefined, match=r"i = 0.*a divisor is 0"):
        evaluate(v[i.dim] * power(v[i.dim], -1), [i], FRACTIONS, {"m": 1}, {"v": [0]})


def test_a_bracket_excuses_nothing_where_it_is_not_0_or_has_no_value() -> None:
    one_of_two = bracket(index_zero(i.dim)) + bracket(index_zero(i.dim - 5))
    result = evaluate_where_defined(one_of_two * power(v[i.dim], -1), [i], FRACTIONS, {"m": 2}, {"v": [0, 0]})
    assert result.reasons.tolist() == [Reason.DIVISION, 0]
    unknown = bracket(positive(power(v[i.dim], -1)))
    result = evaluate_where_defined(unknown * v[i.dim], [i], FRACTIONS, {"m": 2}, {"v": [0, 3]})
    assert result.reasons.tolist() == [Reason.DIVISION, 0]
    assert result.data[1] == 3


@SYSTEMS
def test_places_without_a_value_are_told_with_the_reason(scalars: Scalars) -> None:
    at = v[i.dim]
    given = {"v": [-1, 0]}
    expected = {
        power(at, -1): [0, Reason.DIVISION],
        power(at, Fraction(1, 2)): [Reason.ROOT, 0],
        apply("log", at): [Reason.DOMAIN, Reason.DOMAIN],
        apply("atanh", at): [Reason.DOMAIN, 0],
        v[i.dim + 1]: [0, Reason.OUT_OF_RANGE],
        Sum(i, power(at, -1)): [Reason.DIVISION, Reason.DIVISION],
    }
    for node, reasons in expected.items():
        assert evaluate_where_defined(node, [i], scalars, {"m": 2}, given).reasons.tolist() == reasons, node


def test_out_of_range_reads_never_wrap_around() -> None:
    result = evaluate_where_defined(v[i.dim - 1], [i], FLOATS, SIZES, GIVEN)
    assert result.is_defined.tolist() == [False, True]


def test_both_sides_of_a_conjunction_need_a_value_only_where_the_other_does_not_settle_it() -> None:
    flags = Variable("b", (M,), "bool")
    guarded = index_nonnegative(i.dim - 1) & Flag(flags, (i.dim - 1,))
    assert evaluate(guarded, [i], FRACTIONS, SIZES, {"b": [True, False]}).tolist() == [False, True]
    turned = Flag(flags, (i.dim - 1,)) & index_nonnegative(i.dim - 1)
    assert evaluate(turned, [i], FRACTIONS, SIZES, {"b": [True, False]}).tolist() == [False, True]
    either = negation(index_nonnegative(i.dim - 1)) | Flag(flags, (i.dim - 1,))
    assert evaluate(either, [i], FRACTIONS, SIZES, {"b": [False, False]}).tolist() == [True, False]


@SYSTEMS
def test_conditions_on_numbers(scalars: Scalars) -> None:
    sizes, given = {"m": 3}, {"v": [-2, 0, 3]}
    assert evaluate(positive(v[i.dim]), [i], scalars, sizes, given).tolist() == [False, False, True]
    assert evaluate(zero(v[i.dim]), [i], scalars, sizes, given).tolist() == [False, True, False]
    assert evaluate(Exists(i, zero(v[i.dim] - 3)), [], scalars, sizes, given).item() is True
    assert evaluate(Exists(i, zero(v[i.dim] - 1)), [], scalars, sizes, given).item() is False
    # One place at which it holds settles it, whatever the others lack.
    assert evaluate(Exists(i, positive(1 / v[i.dim])), [], scalars, sizes, given).item() is True


def softmax() -> Expr:
    other = fresh_index(K)
    shifted = apply("exp", x[i.dim, k.dim] - Greatest(other, x[i.dim, other.dim]))
    return shifted / Sum(k, shifted)


def test_minus_infinity_in_a_softmax_weighs_nothing() -> None:
    masked = X.copy()
    masked[0, 1:3] = -np.inf
    weights = np.exp(masked - masked.max(1, keepdims=True))
    values = evaluate(softmax(), [i, k], FLOATS, SIZES, {"x": masked})
    np.testing.assert_allclose(values, weights / weights.sum(1, keepdims=True))
    assert values[0, 1] == 0


@SYSTEMS
def test_a_row_of_nothing_but_minus_infinity_has_no_softmax(scalars: Scalars) -> None:
    masked = np.zeros((2, 4))
    masked[0] = -np.inf
    result = evaluate_where_defined(softmax(), [i, k], scalars, SIZES, {"x": masked})
    assert (result.reasons[0] == Reason.INDETERMINATE).all()
    assert floats(result.data[1]).tolist() == [0.25] * 4


@SYSTEMS
def test_infinities_in_sums_products_powers_and_comparisons(scalars: Scalars) -> None:
    def value(node: Expr) -> float:
        return float(evaluate(node, [], scalars, SIZES, {}).item())

    inf = float("inf")
    assert value(INFINITY + 5) == inf
    assert value(-INFINITY) == -inf
    assert value(power(-INFINITY, 2)) == inf
    assert value(power(INFINITY, -2)) == 0
    assert value(apply("exp", -INFINITY)) == 0
    assert value(apply("sigmoid", INFINITY)) == 1
    assert value(where(positive(-INFINITY), 1, 2)) == 2
    assert value(where(zero(INFINITY), 1, 2)) == 2
    assert value(bracket(index_zero(K)) * INFINITY) == 0
    for lost in [INFINITY - INFINITY, INFINITY * real(M - 2), Sum(i, where(index_zero(i.dim), 1, -1) * INFINITY)]:
        with pytest.raises(Undefined, match="infinities"):
            value(lost)


def test_a_fraction_has_elementary_values_only_where_they_are_rational() -> None:
    assert evaluate(apply("exp", v[i.dim]), [i], FRACTIONS, {"m": 1}, {"v": [0]}).tolist() == [1]
    assert evaluate(power(v[i.dim], Fraction(-3, 2)), [i], FRACTIONS, {"m": 1}, {"v": [Fraction(4, 9)]}).tolist() == [
        Fraction(27, 8)
    ]
    for node in [apply("exp", v[i.dim]), power(v[i.dim], Fraction(1, 2)), PI]:
        result = evaluate_where_defined(node, [i], FRACTIONS, {"m": 1}, {"v": [2]})
        assert result.reasons.tolist() == [Reason.IRRATIONAL]


def test_rounding_goes_to_even_in_every_system() -> None:
    given = {"v": [0.5, 1.5, -2.5, 2.25]}
    for system in (FLOATS, FRACTIONS):
        values = evaluate(apply("round", v[i.dim]), [i], system, {"m": 4}, given)
        assert floats(values).tolist() == [0, 2, -2, 2]


def test_a_float_that_overflows_has_no_value() -> None:
    result = evaluate_where_defined(apply("exp", v[i.dim]), [i], FLOATS, {"m": 2}, {"v": [1000, 0]})
    assert result.reasons.tolist() == [Reason.OVERFLOW, 0]


@pytest.mark.parametrize(
    "node, indices, sizes, values, message",
    [
        (ROW, [], SIZES, GIVEN, "depends on i"),
        (ROW, [i], {"m": 2}, GIVEN, "no value is given for the size k"),
        (ROW, [i], SIZES, {"w": W}, "no values are given for the tensor x; given: w"),
        (ROW, [i], SIZES, {"x": X.T}, r"x has shape \(2, 4\) for the given sizes, but values of \(4, 2\)"),
        (ROW, [i], SIZES, {"x": X * np.nan}, "x is given a NaN"),
        (real(lookup("t", (i.dim,))), [i], SIZES, {"t": [0.5, 1]}, "integer tensor t"),
    ],
)
def test_bad_input_is_named(
    node: Expr, indices: list[object], sizes: dict[str, int], values: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(node, indices, FLOATS, sizes, values)  # type: ignore[arg-type]  # rows of a table


def test_an_expression_may_be_nested_deeper_than_the_stack() -> None:
    node = v[i.dim]
    for _ in range(600):
        node = apply("abs", node - 1)
    assert evaluate(node, [i], FRACTIONS, {"m": 1}, {"v": [700]}).tolist() == [100]


def test_a_tensor_that_is_given_needs_no_definition() -> None:
    z = Variable("z", (M,), definition=((i,), ROW))
    assert evaluate(z[i.dim], [i], FRACTIONS, {"m": 2}, {"z": [5, 6]}).tolist() == [5, 6]
