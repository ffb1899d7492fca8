"""What counts as one form: identities of sums, products, powers, conditions and places."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaped.spec.canonical import Assumptions, Undecided, adjoint, canonical, compare
from shaped.spec.dims import Dim, minimum
from shaped.spec.expr import (
    INFINITY,
    Exists,
    Expr,
    Flag,
    Variable,
    apply,
    bracket,
    index_nonnegative,
    index_zero,
    negation,
    positive,
    real,
    where,
    zero,
)
from shaped.spec.index import fresh_index, lookup
from tests.spec.canonical.notation import (
    Rule,
    exp,
    greatest,
    is_proved,
    log,
    product,
    sigmoid,
    sizes,
    sqrt,
    tanh,
    total,
    upstream,
)

N, M = sizes("n m")
X, Y, B = Variable("x", (N,)), Variable("y", (N,)), Variable("b", (N, M))
P, Q = fresh_index(N, "i").dim, fresh_index(N, "j").dim
K = fresh_index(M, "k").dim


def same(left: Expr, right: Expr | int) -> bool:
    """Whether two expressions are equal everywhere, with nothing set aside."""
    comparison = compare(left, real(right))
    return comparison.equal is True and not comparison.kinks and not comparison.requirements


def test_exponentials_merge() -> None:
    assert same(exp(X[P]) * exp(-X[P]), 1)
    assert same(exp(X[P] + Y[P]) ** 2, exp(2 * X[P]) * exp(Y[P]) ** 2)
    assert same(log(exp(X[P]) * 8), X[P] + 3 * log(2))
    assert same(sigmoid(-X[P]), 1 - sigmoid(X[P]))
    assert same(tanh(X[P]), 2 * sigmoid(2 * X[P]) - 1)
    assert same(log(sigmoid(X[P])), X[P] - log(1 + exp(X[P])))


def test_functions_with_symmetries() -> None:
    assert same(apply("sin", -X[P]), -apply("sin", X[P]))
    assert same(apply("cos", -X[P]), apply("cos", X[P]))
    assert same(apply("sin", X[P]) ** 2 + apply("cos", X[P]) ** 2, 1)
    assert same(apply("abs", -X[P]), apply("abs", X[P]))
    assert same(apply("sign", X[P]) * apply("abs", X[P]), X[P])


def test_roots() -> None:
    assert same(sqrt(real(8)), 2 * sqrt(real(2)))
    assert same((X[P] ** 2 * 4) ** Fraction(1, 2), 2 * apply("abs", X[P]))
    assert same(((X[P] + Y[P]) ** 2) ** Fraction(1, 2), apply("abs", X[P] + Y[P]))
    assert not same(sqrt(X[P] * Y[P]), sqrt(X[P]) * sqrt(Y[P]))


def test_rational_functions() -> None:
    squares = 1 + total(N, lambda k: X[k] ** 2)
    assert same(total(N, lambda k: X[k] ** 2) / squares, 1 - 1 / squares)
    assert same(1 / (1 / squares), squares)
    assert same(1 / (2 * squares) ** 2, Fraction(1, 4) / squares**2)


def test_sums() -> None:
    assert same(total(N, lambda k: real(3)), 3 * N)
    assert same(total(N, lambda k: X[k] * Y[P]), Y[P] * total(N, lambda k: X[k]))
    assert same(total(N, lambda k: X[N - 1 - k]), total(N, lambda k: X[k]))
    twice = total(N, lambda k: total(N, lambda p: X[k] * Y[p]))
    assert same(twice, total(N, lambda k: X[k]) * total(N, lambda k: Y[k]))
    assert not same(twice, total(N, lambda k: X[k] * Y[k]))
    assert same(total(N, lambda k: total(M, lambda p: B[k, p])), total(M, lambda p: total(N, lambda k: B[k, p])))
    assert same(total(N, lambda k: X[k] * bracket(index_zero(k - P))), X[P])
    assert same(total(3, lambda k: Y[P] ** 2 * k), 3 * Y[P] ** 2)


def test_a_range_that_may_be_empty() -> None:
    assert not same(total(N - 5, lambda k: real(1)), N - 5)
    assert same(total(N - 1, lambda k: real(1)), N - 1)


def test_a_shifted_range() -> None:
    inner = total(N - 1, lambda k: X[k + 1])
    assert same(inner, total(N, lambda k: X[k]) - X[Dim.of(0)])
    windows = total(N, lambda k: where(index_nonnegative(k - 1), X[k - 1], 0))
    assert same(windows, total(N, lambda k: X[k]) - X[N - 1])


def test_conditions_of_numbers() -> None:
    assert same(bracket(positive(X[P])) + bracket(zero(X[P])) + bracket(positive(-X[P])), 1)
    assert same(bracket(positive(X[P] - 1)) * bracket(positive(X[P])), bracket(positive(X[P] - 1)))
    assert same(bracket(positive(exp(X[P]) - 1)), bracket(positive(X[P])))
    assert same(bracket(zero(X[P] * Y[P])) * X[P] * Y[P], 0)
    assert same(bracket(positive(X[P] ** 2)), 1 - bracket(zero(X[P])))
    assert same(where(positive(X[P]), apply("abs", X[P]), 0), where(positive(X[P]), X[P], 0))


def test_conditions_of_places() -> None:
    assert same(bracket(index_nonnegative(P)), 1)
    assert same(bracket(index_nonnegative(P - Q)) + bracket(index_nonnegative(Q - P - 1)), 1)
    assert same(bracket(index_zero(2 * P - 2 * Q + 1)), 0)
    assert same(bracket(index_zero(N * P - N * Q)), bracket(index_zero(P - Q)))
    assert same(bracket(index_zero(P * M + K)), bracket(index_zero(P)) * bracket(index_zero(K)))
    both = bracket(index_nonnegative(N - 1 - K)) * bracket(index_nonnegative(M - 1 - K))
    assert same(bracket(index_nonnegative(minimum(N, M) - 1 - K)), both)
    assert same(bracket(index_nonnegative(P - 1)), 1 - bracket(index_zero(P)))


def test_flags_and_existence() -> None:
    flags = Variable("f", (N,), "bool")
    flag = bracket(Flag(flags, (P,)))
    assert same(flag * flag, flag)
    assert same(flag + bracket(negation(Flag(flags, (P,)))), 1)
    index = fresh_index(N)
    some = bracket(Exists(index, index_zero(index.dim - P)))
    assert same(some, 1)


def test_maxima() -> None:
    assert same(greatest(N, lambda k: X[k] + Y[P]), Y[P] + greatest(N, lambda k: X[k]))
    assert not same(greatest(N, lambda k: -X[k]), -greatest(N, lambda k: X[k]))
    masked = greatest(N, lambda k: where(index_nonnegative(P - k), X[k], -INFINITY))
    assert same(exp(X[Q] - masked) * exp(masked), exp(X[Q]))


def test_the_gradient_of_a_masked_maximum_is_split_among_what_is_seen() -> None:
    g = upstream(0, (N,))

    def highest(i: Dim) -> Expr:
        return greatest(N, lambda k: where(index_nonnegative(i - k), X[k], -INFINITY))

    def share(i: Dim, k: Dim) -> Expr:
        return where(index_nonnegative(i - k), bracket(zero(X[k] - highest(i))), 0)

    claimed = Rule(
        [((N,), highest)],
        [(X, lambda k: total(N, lambda i: g[i] * share(i, k) / total(N, lambda p: share(i, p))))],
    )
    assert is_proved(claimed)
    unshared = Rule([((N,), highest)], [(X, lambda k: total(N, lambda i: g[i] * share(i, k)))])
    assert not is_proved(unshared)


def test_products() -> None:
    assert same(product(N, lambda k: X[k] * Y[k]), product(N, lambda k: X[k]) * product(N, lambda k: Y[k]))
    assert same(product(N, lambda k: exp(X[k])), exp(total(N, lambda k: X[k])))
    assert same(product(2, lambda k: Y[P] + k), Y[P] ** 2 + Y[P])
    shifted = product(N, lambda k: where(index_nonnegative(k - 1), X[k - 1], 1))
    assert same(shifted, product(N, lambda k: where(index_nonnegative(N - 2 - k), X[k], 1)))
    assert not same(shifted, product(N, lambda k: X[k]))


def test_kinks_under_a_sum_are_null_sets_too() -> None:
    g = upstream(0, (N, M))
    other = Variable("c", (M,))

    def larger(i: Dim, k: Dim) -> Expr:
        return where(positive(B[i, k] - other[k]), B[i, k], other[k])

    rule = Rule(
        [((N, M), larger)],
        [(other, lambda k: total(N, lambda i: where(positive(other[k] - B[i, k]), g[i, k], 0)))],
    )
    (comparison,) = rule.check()
    assert comparison.equal is True
    assert comparison.kinks


def test_what_is_required_under_a_condition_decides_its_cases() -> None:
    guarded = where(zero(X[P]), 0, log(X[P]))  # it is defined for x >= 0
    assert compare(guarded, where(positive(X[P]), log(X[P]), 0)).equal is True
    assert compare(guarded, where(positive(X[P]), log(X[P]), 1)).equal is not True


def test_an_intermediate_is_differentiated_through_its_definition() -> None:
    i, j = fresh_index(N, "i"), fresh_index(M, "j")
    hidden = Variable("h", (N,), definition=((i,), total(M, lambda k: B[i.dim, k] * upstream(3, (M,))[k])))
    weights = upstream(3, (M,))
    o = fresh_index(N, "o")
    g = upstream(0, (N,))
    derived = adjoint([((o,), tanh(hidden[o.dim]))], [g[o.dim]], weights, (j,))
    slope = total(N, lambda k: g[k] * (1 - tanh(hidden[k]) ** 2) * B[k, j.dim])
    assert compare(derived, slope).equal is True
    expanded = total(N, lambda k: total(M, lambda p: B[k, p] * weights[p]) * B[k, j.dim])
    square = adjoint([((o,), hidden[o.dim] ** 2)], [real(1)], weights, (j,))
    comparison = compare(square, 2 * expanded)
    assert comparison.equal is True
    assert "definitions of intermediates" in comparison.used


def test_lookups() -> None:
    def label(i: Dim) -> Dim:
        return lookup("labels", (i,), M)

    picked = total(M, lambda k: B[P, k] * bracket(index_zero(k - label(P))))
    assert same(picked, B[P, label(P)])
    assert not same(B[P, label(P)], B[P, label(Q)])


def test_strided_windows_meet_their_inverse() -> None:
    g = upstream(0, (N,))
    wide = Variable("z", (3 * N,))
    rule = Rule(
        [((N,), lambda i: total(3, lambda t: wide[3 * i + t]))],
        [(wide, lambda k: g[k // 3])],
    )
    assert is_proved(rule)


def test_an_index_stands_for_one_place_only() -> None:
    index = fresh_index(N)
    with pytest.raises(ValueError, match="make a fresh index"):
        adjoint([((index,), X[index.dim])], [real(1)], X, (index,))


def test_what_is_not_followed_is_said() -> None:
    with pytest.raises(Undecided):
        canonical(INFINITY - INFINITY)
    comparison = compare(INFINITY * X[P], X[P])
    assert comparison.equal is None
    assert "not followed" in comparison.used[0]
    assert compare(1 / (X[P] - X[P]), real(0)).equal is None


def test_least_sizes_decide_conditions() -> None:
    several = Assumptions(least=frozenset({N - 2}))
    unbiased = total(N, lambda k: X[k] ** 2) / (N - 1)
    assert [str(each) for each in compare(unbiased, unbiased).requirements] == ["n - 1 != 0"]
    assert compare(unbiased, unbiased, several).requirements == ()
