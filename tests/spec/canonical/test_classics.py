"""Closed forms of gradients that the field relies on, proved for all sizes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, Variable, real
from tests.spec.canonical.notation import Rule, exp, greatest, is_proved, log, sizes, sqrt, total, upstream


def test_matmul() -> None:
    n, k, m = sizes("n k m")
    a, b, g = Variable("a", (n, k)), Variable("b", (k, m)), upstream(0, (n, m))
    assert is_proved(
        Rule(
            [((n, m), lambda i, j: total(k, lambda p: a[i, p] * b[p, j]))],
            [
                (a, lambda i, p: total(m, lambda j: g[i, j] * b[p, j])),
                (b, lambda p, j: total(n, lambda i: a[i, p] * g[i, j])),
            ],
        )
    )


def softmax(x: Variable, n: Dim, i: Dim, j: Dim, *, shifted: bool = False) -> Expr:
    shift = greatest(n, lambda k: x[i, k]) if shifted else real(0)
    return exp(x[i, j] - shift) / total(n, lambda k: exp(x[i, k] - shift))


@pytest.mark.parametrize("shifted", [False, True])
def test_softmax_and_its_shifted_form(shifted: bool) -> None:
    b, n = sizes("b n")
    x, g = Variable("x", (b, n)), upstream(0, (b, n))
    rule = Rule(
        [((b, n), lambda i, j: softmax(x, n, i, j, shifted=shifted))],
        [
            (
                x,
                lambda i, j: (
                    softmax(x, n, i, j) * (g[i, j] - total(n, lambda k: g[i, k] * softmax(x, n, i, k, shifted=True)))
                ),
            )
        ],
    )
    assert is_proved(rule)


def test_log_sum_exp() -> None:
    b, n = sizes("b n")
    x, g = Variable("x", (b, n)), upstream(0, (b,))

    def log_sum_exp(i: Dim) -> Expr:
        shift = greatest(n, lambda k: x[i, k])
        return log(total(n, lambda k: exp(x[i, k] - shift))) + shift

    assert is_proved(Rule([((b,), log_sum_exp)], [(x, lambda i, j: g[i] * softmax(x, n, i, j))]))


def test_layer_norm() -> None:
    b, n = sizes("b n")
    x, w, c, g = Variable("x", (b, n)), Variable("w", (n,)), Variable("c", (n,)), upstream(0, (b, n))

    def mean(i: Dim) -> Expr:
        return total(n, lambda k: x[i, k]) / n

    def scale(i: Dim) -> Expr:
        return (total(n, lambda k: (x[i, k] - mean(i)) ** 2) / n + Fraction(1, 100000)) ** Fraction(-1, 2)

    def normal(i: Dim, j: Dim) -> Expr:
        return (x[i, j] - mean(i)) * scale(i)

    def gradient(i: Dim, j: Dim) -> Expr:
        own = g[i, j] * w[j]
        along = total(n, lambda k: g[i, k] * w[k] * normal(i, k)) / n
        return scale(i) * (own - total(n, lambda k: g[i, k] * w[k]) / n - normal(i, j) * along)

    assert is_proved(
        Rule(
            [((b, n), lambda i, j: normal(i, j) * w[j] + c[j])],
            [
                (x, gradient),
                (w, lambda j: total(b, lambda i: g[i, j] * normal(i, j))),
                (c, lambda j: total(b, lambda i: g[i, j])),
            ],
        )
    )


def test_rms_norm_needs_its_denominators_cleared() -> None:
    b, n = sizes("b n")
    x, w, g = Variable("x", (b, n)), Variable("w", (n,)), upstream(0, (b, n))

    def scale(i: Dim) -> Expr:
        return 1 / sqrt(total(n, lambda k: x[i, k] ** 2) / n + Fraction(1, 10**6))

    def gradient(i: Dim, j: Dim) -> Expr:
        along = total(n, lambda k: g[i, k] * w[k] * x[i, k]) / n
        return scale(i) * (g[i, j] * w[j] - x[i, j] * scale(i) ** 2 * along)

    assert is_proved(
        Rule(
            [((b, n), lambda i, j: x[i, j] * scale(i) * w[j])],
            [(x, gradient), (w, lambda j: total(b, lambda i: g[i, j] * x[i, j] * scale(i)))],
        )
    )
