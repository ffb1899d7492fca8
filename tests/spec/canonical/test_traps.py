"""Identities that are nearly true: none may be proved, and what is true only somewhere must say where."""

from __future__ import annotations

from fractions import Fraction

from shaped.spec.canonical import Assumptions, compare, requirements
from shaped.spec.dims import Dim
from shaped.spec.expr import (
    INFINITY,
    Expr,
    Variable,
    apply,
    bracket,
    index_nonnegative,
    index_zero,
    negation,
    positive,
    where,
    zero,
)
from shaped.spec.index import fresh_index
from tests.spec.canonical.notation import Rule, exp, greatest, is_proved, log, product, sizes, sqrt, total, upstream

(N,) = sizes("n")
X, Y, A = Variable("x", (N,)), Variable("y", (N,)), Variable("a", (N, N))
G, G_SCALAR = upstream(0, (N,)), upstream(0, ())[()]
P, Q = fresh_index(N, "i").dim, fresh_index(N, "j").dim


def elementwise(function: Expr, claimed: Expr) -> Rule:
    """A function of x[i], with a claim about its gradient."""
    index = next(iter(function.free))

    def at(node: Expr, place: Dim) -> Expr:
        from shaped.spec.substitution import substitute

        return substitute(node, {index: place})

    return Rule([((N,), lambda i: at(function, i))], [(X, lambda i: at(claimed, i))])


def scalar(function: Expr, variable: Variable, claimed: object) -> Rule:
    return Rule([((), lambda: function)], [(variable, claimed)])  # type: ignore[list-item]  # a function of places


def texts(rule: Rule) -> list[str]:
    (comparison,) = rule.check()
    assert comparison.equal is True
    return [*map(str, comparison.requirements), *comparison.kinks]


def test_the_root_of_a_square_is_the_absolute_value() -> None:
    assert not is_proved(elementwise(sqrt(X[P] ** 2), G[P]))
    assert is_proved(elementwise(sqrt(X[P] ** 2), G[P] * apply("sign", X[P])))
    assert compare(sqrt(X[P] ** 2), X[P]).equal is not True
    assert compare(sqrt(X[P] ** 2), apply("abs", X[P])).equal is True


def test_the_logarithm_of_a_square_is_defined_for_negative_numbers() -> None:
    assert is_proved(elementwise(log(X[P] ** 2), 2 * G[P] / X[P]))
    assert not is_proved(elementwise(log(X[P] ** 2), 2 * G[P] / apply("abs", X[P])))
    comparison = compare(log(X[P] ** 2), 2 * log(X[P]))
    assert comparison.equal is not True or "x[i] > 0" in map(str, comparison.requirements)


def test_relu_may_take_either_side_at_its_kink() -> None:
    relu = where(positive(X[P]), X[P], 0)
    assert texts(elementwise(relu, G[P] * bracket(positive(X[P])))) == []
    assert texts(elementwise(relu, G[P] * bracket(negation(positive(-X[P]))))) == ["x[a] = 0"]
    assert not is_proved(elementwise(relu, G[P] * bracket(positive(-X[P]))))


def test_a_root_of_a_product_is_not_split() -> None:
    split = Fraction(1, 2) * G[P] * sqrt(Y[P]) / sqrt(X[P])
    for comparison in elementwise(sqrt(X[P] * Y[P]), split).check():
        assert comparison.equal is not True or {"x[a] > 0", "y[a] >= 0"} <= set(map(str, comparison.requirements))


def test_a_division_excludes_zero() -> None:
    assert texts(elementwise(X[P] * X[P] / X[P], G[P])) == ["x[o] != 0"]
    assert compare(1 / (X[P] - X[P]), 1 / (Y[P] - Y[P])).equal is None


def test_a_guarded_division_is_not_simplified_where_it_is_not_taken() -> None:
    guarded = where(zero(X[P]), 0, 1 / X[P])
    comparison = compare(guarded * X[P], X[P] * 0 + 1)
    assert comparison.equal is not True or comparison.kinks
    assert compare(guarded * X[P] ** 2, X[P]).equal is True
    assert compare(guarded * X[P] ** 2, X[P]).requirements == ()
    other = where(zero(X[P]), 5, 1 / X[P])
    assert compare(guarded, other).equal is not True or compare(guarded, other).kinks
    assert compare(guarded, 1 / X[P]).equal is True


def test_a_mean_divides_by_n() -> None:
    mean = total(N, lambda k: X[k]) / N
    assert not is_proved(scalar(mean, X, lambda i: G_SCALAR / (N - 1)))
    assert is_proved(scalar(mean, X, lambda i: G_SCALAR / N))


def test_a_trace_is_no_sum() -> None:
    trace = total(N, lambda k: A[k, k])
    assert not is_proved(scalar(trace, A, lambda i, j: G_SCALAR))
    assert is_proved(scalar(trace, A, lambda i, j: G_SCALAR * bracket(index_zero(i - j))))


def test_a_quadratic_form_is_not_taken_for_symmetric() -> None:
    form = total(N, lambda k: total(N, lambda j: X[k] * A[k, j] * X[j]))
    assert not is_proved(scalar(form, X, lambda i: 2 * G_SCALAR * total(N, lambda k: A[i, k] * X[k])))
    assert is_proved(scalar(form, X, lambda i: G_SCALAR * total(N, lambda k: (A[i, k] + A[k, i]) * X[k])))


def test_ties_of_a_maximum_share_its_gradient() -> None:
    most = greatest(N, lambda k: X[k])

    def is_greatest(i: Dim) -> Expr:
        return bracket(zero(X[i] - most))

    assert not is_proved(scalar(most, X, lambda i: G_SCALAR * is_greatest(i)))
    assert is_proved(scalar(most, X, lambda i: G_SCALAR * is_greatest(i) / total(N, is_greatest)))


def test_rows_and_columns_of_one_size_are_not_confused() -> None:
    both = total(N, lambda k: X[k]) * total(N, lambda k: Y[k])
    assert is_proved(scalar(both, X, lambda i: G_SCALAR * total(N, lambda k: Y[k])))
    assert not is_proved(scalar(both, X, lambda i: G_SCALAR * Y[i]))
    assert compare(total(N, lambda k: X[k] * Y[k]), both).equal is not True


def test_an_absolute_value_twice() -> None:
    twice = apply("abs", apply("abs", X[P]))
    assert is_proved(elementwise(twice, G[P] * X[P] / apply("abs", X[P])))


def test_a_strict_triangle_is_another_one() -> None:
    lower = total(N, lambda k: total(N, lambda j: A[k, j] * bracket(index_nonnegative(k - j))))
    assert not is_proved(scalar(lower, A, lambda i, j: G_SCALAR * bracket(index_nonnegative(i - j - 1))))
    assert is_proved(scalar(lower, A, lambda i, j: G_SCALAR * bracket(index_nonnegative(i - j))))


def test_a_fractional_power_needs_a_base_that_is_not_negative() -> None:
    power = X[P] ** Fraction(3, 2)
    assert texts(elementwise(power, Fraction(3, 2) * G[P] * sqrt(X[P]))) == ["x[o] >= 0", "x[a] >= 0"]


def test_powers_of_sums() -> None:
    square = total(N, lambda k: X[k] ** 2)
    assert is_proved(scalar(square**2, X, lambda i: 4 * G_SCALAR * X[i] * square))
    fourth = total(N, lambda i: total(N, lambda j: total(N, lambda k: A[i, k] * A[j, k]) ** 2))

    def product_of_three(i: Dim, j: Dim) -> Expr:
        return total(N, lambda k: total(N, lambda m: A[i, m] * A[k, m]) * A[k, j])

    assert is_proved(scalar(fourth, A, lambda i, j: 4 * G_SCALAR * product_of_three(i, j)))
    squares = total(N, lambda i: total(N, lambda k: A[i, k] ** 2))
    assert not is_proved(scalar(fourth, A, lambda i, j: 4 * G_SCALAR * A[i, j] * squares))


def test_a_difference_on_a_fat_set_is_not_set_aside() -> None:
    most = greatest(N, lambda k: X[k])
    assert compare(bracket(zero(X[P] - most)), bracket(zero(X[P] - X[P] + 1))).equal is not True
    assert compare(bracket(zero(X[P] - X[Q])), X[P] * 0).equal is not True  # all of it where i = j
    assert compare(bracket(zero(where(positive(X[P]), X[P], 0))), X[P] * 0).equal is not True


def test_assumptions_end_with_their_comparison() -> None:
    assert compare(sqrt(X[P] ** 2), X[P], Assumptions(positive=frozenset({"x"}))).equal is True
    assert compare(sqrt(X[P] ** 2), X[P]).equal is not True
    last = bracket(index_nonnegative(N - 2))
    assert compare(last, last * 0 + 1, Assumptions(least=frozenset({N - 2}))).equal is True
    assert compare(last, last * 0 + 1).equal is not True


def test_requirements_that_no_input_meets_are_no_proof() -> None:
    nowhere = log(X[P]) + log(-X[P])
    assert compare(nowhere - nowhere, X[P] * 0).equal is None


def test_a_requirement_holds_at_its_own_place_only() -> None:
    first = bracket(zero(X[Dim.of(0)]))
    assert (
        compare(X[P] / X[P] + first, X[P] * 0 + 1).equal is not True or compare(X[P] / X[P] + first, X[P] * 0 + 1).kinks
    )


def test_what_is_certain_is_not_required() -> None:
    weights = total(N, lambda k: exp(X[k]))
    assert requirements(log(weights) + 1 / weights) == ()
    assert requirements(sqrt(total(N, lambda k: X[k] ** 2)) + 1 / (1 + apply("abs", X[P]))) == ()
    guarded = where(positive(X[P]), log(X[P]), 0)
    assert requirements(guarded) == ()
    masked = total(N, lambda k: where(index_nonnegative(P - k), exp(X[k]), 0))
    assert requirements(1 / masked) == ()
    most = greatest(N, lambda k: apply("abs", X[k]))
    assert requirements(1 / total(N, lambda k: bracket(zero(apply("abs", X[k]) - most)))) == ()
    assert requirements(1 / total(N, lambda k: bracket(zero(X[k] - most)))) != ()
    assert [str(each) for each in requirements(X[P] ** Fraction(-1, 2))] == ["x[i] > 0"]


def test_a_mask_of_minus_infinity_is_a_condition() -> None:
    def masked(k: Dim) -> Expr:
        return where(index_nonnegative(P - k), X[k], -INFINITY)

    assert compare(exp(masked(Q)), where(index_nonnegative(P - Q), exp(X[Q]), 0)).equal is True


def test_a_product_counts_its_zeros() -> None:
    all_of_them = product(N, lambda k: X[k])
    inverse = scalar(all_of_them, X, lambda i: G_SCALAR * all_of_them / X[i])
    assert texts(inverse) == ["x[a] != 0"]

    def others(i: Dim) -> Expr:
        return product(N, lambda k: where(index_zero(k - i), 1, X[k]))

    assert texts(scalar(all_of_them, X, lambda i: G_SCALAR * others(i))) == []
    before_and_after = scalar(
        all_of_them,
        X,
        lambda i: (
            G_SCALAR
            * product(N, lambda k: where(index_nonnegative(i - 1 - k), X[k], 1))
            * product(N, lambda k: where(index_nonnegative(k - i - 1), X[k], 1))
        ),
    )
    assert texts(before_and_after) == []
    assert not is_proved(scalar(all_of_them, X, lambda i: G_SCALAR * all_of_them))
