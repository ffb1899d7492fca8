"""Closed forms of gradients of layers: attention, convolutions, recurrent cells, losses. Proved for all sizes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shaped.spec.dims import Dim
from shaped.spec.expr import PI, Expr, Variable, apply, bracket, index_nonnegative, index_zero, real, where
from shaped.spec.index import lookup
from tests.spec.canonical.notation import Rule, exp, greatest, is_proved, log, sigmoid, sizes, tanh, total, upstream

B, N, M, D, E = sizes("b n m d e")


@pytest.mark.parametrize("uses_output", [False, True])
def test_attention_with_and_without_the_row_sum_of_the_output(uses_output: bool) -> None:
    q, k, v = Variable("q", (B, N, D)), Variable("k", (B, M, D)), Variable("v", (B, M, E))
    g = upstream(0, (B, N, E))
    scale = real(D) ** Fraction(-1, 2)

    def score(b: Dim, i: Dim, j: Dim) -> Expr:
        return total(D, lambda c: q[b, i, c] * k[b, j, c]) * scale

    def weight(b: Dim, i: Dim, j: Dim) -> Expr:
        return exp(score(b, i, j)) / total(M, lambda p: exp(score(b, i, p)))

    def output(b: Dim, i: Dim, c: Dim) -> Expr:
        return total(M, lambda j: weight(b, i, j) * v[b, j, c])

    def of_weight(b: Dim, i: Dim, j: Dim) -> Expr:
        return total(E, lambda c: g[b, i, c] * v[b, j, c])

    def along(b: Dim, i: Dim) -> Expr:
        if uses_output:
            return total(E, lambda c: g[b, i, c] * output(b, i, c))
        return total(M, lambda p: weight(b, i, p) * of_weight(b, i, p))

    def of_score(b: Dim, i: Dim, j: Dim) -> Expr:
        return weight(b, i, j) * (of_weight(b, i, j) - along(b, i)) * scale

    rule = Rule(
        [((B, N, E), output)],
        [
            (q, lambda b, i, c: total(M, lambda j: of_score(b, i, j) * k[b, j, c])),
            (k, lambda b, j, c: total(N, lambda i: of_score(b, i, j) * q[b, i, c])),
            (v, lambda b, j, c: total(N, lambda i: weight(b, i, j) * g[b, i, c])),
        ],
    )
    assert is_proved(rule)


def test_causal_attention() -> None:
    q, k, v = Variable("q", (N, D)), Variable("k", (N, D)), Variable("v", (N, E))
    g = upstream(0, (N, E))

    def score(i: Dim, j: Dim) -> Expr:
        return total(D, lambda c: q[i, c] * k[j, c])

    def masked(i: Dim, j: Dim) -> Expr:
        from shaped.spec.expr import INFINITY

        return where(index_nonnegative(i - j), score(i, j), -INFINITY)

    def weight(i: Dim, j: Dim) -> Expr:
        shift = greatest(N, lambda p: masked(i, p))
        return exp(masked(i, j) - shift) / total(N, lambda p: exp(masked(i, p) - shift))

    def kept(i: Dim, j: Dim) -> Expr:
        return where(index_nonnegative(i - j), exp(score(i, j)), 0)

    def share(i: Dim, j: Dim) -> Expr:
        return kept(i, j) / total(N, lambda p: kept(i, p))

    def of_weight(i: Dim, j: Dim) -> Expr:
        return total(E, lambda c: g[i, c] * v[j, c])

    def of_score(i: Dim, j: Dim) -> Expr:
        return share(i, j) * (of_weight(i, j) - total(N, lambda p: share(i, p) * of_weight(i, p)))

    assert is_proved(
        Rule(
            [((N, E), lambda i, c: total(N, lambda j: weight(i, j) * v[j, c]))],
            [
                (q, lambda i, c: total(N, lambda j: of_score(i, j) * k[j, c])),
                (k, lambda j, c: total(N, lambda i: of_score(i, j) * q[i, c])),
                (v, lambda j, c: total(N, lambda i: share(i, j) * g[i, c])),
            ],
        )
    )


def test_convolution_with_any_stride_padding_and_dilation() -> None:
    c, o, k = sizes("c o k")
    stride, dilation = sizes("s t")
    padding = Dim.name("p", low=0)
    length = (N + 2 * padding - dilation * (k - 1) - 1) // stride + 1
    x, w, g = Variable("x", (B, c, N)), Variable("w", (o, c, k)), upstream(0, (B, o, length))

    def tap(i: Dim, p: Dim) -> Dim:
        return stride * i + dilation * p - padding

    def read(b: Dim, f: Dim, at: Dim) -> Expr:
        return where(index_nonnegative(at) & index_nonnegative(N - 1 - at), x[b, f, at], 0)

    def output(b: Dim, h: Dim, i: Dim) -> Expr:
        return total(c, lambda f: total(k, lambda p: read(b, f, tap(i, p)) * w[h, f, p]))

    assert is_proved(
        Rule(
            [((B, o, length), output)],
            [
                (
                    x,
                    lambda b, f, q: total(
                        o,
                        lambda h: total(
                            length,
                            lambda i: total(k, lambda p: g[b, h, i] * w[h, f, p] * bracket(index_zero(q - tap(i, p)))),
                        ),
                    ),
                ),
                (
                    w,
                    lambda h, f, p: total(B, lambda b: total(length, lambda i: g[b, h, i] * read(b, f, tap(i, p)))),
                ),
            ],
        )
    )


def test_convolution_as_a_transposed_convolution() -> None:
    c, o = sizes("c o")
    k = Dim.name("k")
    x, w = Variable("x", (B, c, N + k - 1)), Variable("w", (o, c, k))
    g = upstream(0, (B, o, N))

    def of_input(b: Dim, f: Dim, q: Dim) -> Expr:
        def at(h: Dim, p: Dim) -> Expr:
            place = q - p
            inside = index_nonnegative(place) & index_nonnegative(N - 1 - place)
            return where(inside, g[b, h, place], 0) * w[h, f, p]

        return total(o, lambda h: total(k, lambda p: at(h, p)))

    assert is_proved(
        Rule(
            [((B, o, N), lambda b, h, i: total(c, lambda f: total(k, lambda p: x[b, f, i + p] * w[h, f, p])))],
            [
                (x, of_input),
                (w, lambda h, f, p: total(B, lambda b: total(N, lambda i: g[b, h, i] * x[b, f, i + p]))),
            ],
        )
    )


def test_cross_entropy_with_class_indices() -> None:
    c = Dim.name("c")
    x, g = Variable("x", (B, c)), upstream(0, ())[()]

    def label(i: Dim) -> Dim:
        return lookup("y", (i,), c)

    def loss() -> Expr:
        return total(B, lambda i: log(total(c, lambda k: exp(x[i, k]))) - x[i, label(i)]) / B

    def gradient(i: Dim, j: Dim) -> Expr:
        return g * (exp(x[i, j]) / total(c, lambda k: exp(x[i, k])) - bracket(index_zero(j - label(i)))) / B

    assert is_proved(Rule([((), loss)], [(x, gradient)]))


def test_embedding() -> None:
    v, t = sizes("v t")
    w, g = Variable("w", (v, D)), upstream(0, (B, t, D))

    def token(i: Dim, j: Dim) -> Dim:
        return lookup("tokens", (i, j), v)

    assert is_proved(
        Rule(
            [((B, t, D), lambda i, j, c: w[token(i, j), c])],
            [
                (
                    w,
                    lambda r, c: total(
                        B, lambda i: total(t, lambda j: g[i, j, c] * bracket(index_zero(token(i, j) - r)))
                    ),
                )
            ],
        )
    )


def test_gelu_in_both_forms() -> None:
    x, g = Variable("x", (N,)), upstream(0, (N,))
    root_half = real(2) ** Fraction(-1, 2)

    def gelu(i: Dim) -> Expr:
        return x[i] * (1 + apply("erf", x[i] * root_half)) / 2

    def slope(i: Dim) -> Expr:
        density = exp(-(x[i] ** 2) / 2) * (2 * PI) ** Fraction(-1, 2)
        return g[i] * ((1 + apply("erf", x[i] * root_half)) / 2 + x[i] * density)

    assert is_proved(Rule([((N,), gelu)], [(x, slope)]))
    factor, cubic = (2 / PI) ** Fraction(1, 2), Fraction(44715, 10**6)

    def inner(i: Dim) -> Expr:
        return tanh(factor * (x[i] + cubic * x[i] ** 3))

    def tanh_slope(i: Dim) -> Expr:
        t = inner(i)
        return g[i] * ((1 + t) / 2 + x[i] / 2 * (1 - t * t) * factor * (1 + 3 * cubic * x[i] ** 2))

    assert is_proved(Rule([((N,), lambda i: x[i] / 2 * (1 + inner(i)))], [(x, tanh_slope)]))


def test_lstm_cell() -> None:
    h, i = sizes("h i")
    x, s, c = Variable("x", (B, i)), Variable("s", (B, h)), Variable("c", (B, h))
    w = [Variable(f"w{gate}", (h, i)) for gate in range(4)]
    u = [Variable(f"u{gate}", (h, h)) for gate in range(4)]
    gh, gc = upstream(0, (B, h)), upstream(1, (B, h))

    def gate(number: int, b: Dim, j: Dim) -> Expr:
        into = total(i, lambda k: x[b, k] * w[number][j, k]) + total(h, lambda k: s[b, k] * u[number][j, k])
        return tanh(into) if number == 2 else sigmoid(into)

    def cell(b: Dim, j: Dim) -> Expr:
        return gate(1, b, j) * c[b, j] + gate(0, b, j) * gate(2, b, j)

    def of_cell(b: Dim, j: Dim) -> Expr:
        return gc[b, j] + gh[b, j] * gate(3, b, j) * (1 - tanh(cell(b, j)) ** 2)

    def of_gate(number: int, b: Dim, j: Dim) -> Expr:
        own = gate(number, b, j)
        if number == 3:
            return gh[b, j] * tanh(cell(b, j)) * own * (1 - own)
        other = {0: gate(2, b, j), 1: c[b, j], 2: gate(0, b, j)}[number]
        return of_cell(b, j) * other * (1 - own * own if number == 2 else own * (1 - own))

    def of_input(b: Dim, k: Dim, weights: list[Variable]) -> Expr:
        terms = [total(h, lambda j, n=n: of_gate(n, b, j) * weights[n][j, k]) for n in range(4)]  # type: ignore[misc]
        return terms[0] + terms[1] + terms[2] + terms[3]

    rule = Rule(
        [((B, h), lambda b, j: gate(3, b, j) * tanh(cell(b, j))), ((B, h), cell)],
        [
            (x, lambda b, k: of_input(b, k, w)),
            (s, lambda b, k: of_input(b, k, u)),
            (c, lambda b, j: of_cell(b, j) * gate(1, b, j)),
            *((w[n], lambda j, k, n=n: total(B, lambda b: of_gate(n, b, j) * x[b, k])) for n in range(4)),
            *((u[n], lambda j, k, n=n: total(B, lambda b: of_gate(n, b, j) * s[b, k])) for n in range(4)),
        ],
    )
    assert is_proved(rule)


def test_gru_cell() -> None:
    h, i = sizes("h i")
    x, s = Variable("x", (B, i)), Variable("s", (B, h))
    w = [Variable(f"w{gate}", (h, i)) for gate in range(3)]
    u = [Variable(f"u{gate}", (h, h)) for gate in range(3)]
    g = upstream(0, (B, h))

    def into(number: int, b: Dim, j: Dim) -> Expr:
        return total(i, lambda k: x[b, k] * w[number][j, k])

    def back(number: int, b: Dim, j: Dim) -> Expr:
        return total(h, lambda k: s[b, k] * u[number][j, k])

    def gate(number: int, b: Dim, j: Dim) -> Expr:
        return sigmoid(into(number, b, j) + back(number, b, j))

    def new(b: Dim, j: Dim) -> Expr:
        return tanh(into(2, b, j) + gate(0, b, j) * back(2, b, j))

    def output(b: Dim, j: Dim) -> Expr:
        return (1 - gate(1, b, j)) * new(b, j) + gate(1, b, j) * s[b, j]

    def of_new(b: Dim, j: Dim) -> Expr:
        return g[b, j] * (1 - gate(1, b, j)) * (1 - new(b, j) ** 2)

    def of_gate(number: int, b: Dim, j: Dim) -> Expr:
        own = gate(number, b, j)
        other = of_new(b, j) * back(2, b, j) if number == 0 else g[b, j] * (s[b, j] - new(b, j))
        return other * own * (1 - own)

    def of_back(b: Dim, j: Dim) -> Expr:
        return of_new(b, j) * gate(0, b, j)

    rule = Rule(
        [((B, h), output)],
        [
            (
                x,
                lambda b, k: total(
                    h,
                    lambda j: of_gate(0, b, j) * w[0][j, k] + of_gate(1, b, j) * w[1][j, k] + of_new(b, j) * w[2][j, k],
                ),
            ),
            (
                s,
                lambda b, k: (
                    g[b, k] * gate(1, b, k)
                    + total(
                        h,
                        lambda j: (
                            of_gate(0, b, j) * u[0][j, k] + of_gate(1, b, j) * u[1][j, k] + of_back(b, j) * u[2][j, k]
                        ),
                    )
                ),
            ),
            (u[0], lambda j, k: total(B, lambda b: of_gate(0, b, j) * s[b, k])),
            (u[2], lambda j, k: total(B, lambda b: of_back(b, j) * s[b, k])),
            (w[1], lambda j, k: total(B, lambda b: of_gate(1, b, j) * x[b, k])),
        ],
    )
    assert is_proved(rule)


def test_a_prefix_sum_turned_around() -> None:
    x, g = Variable("x", (N,)), upstream(0, (N,))

    def sum_to(i: Dim) -> Expr:
        return total(N, lambda k: bracket(index_nonnegative(i - k)) * x[k])

    def by_difference(i: Dim) -> Expr:
        before = total(N, lambda k: bracket(index_nonnegative(i - 1 - k)) * g[k])
        return total(N, lambda k: g[k]) - before

    assert is_proved(Rule([((N,), sum_to)], [(x, by_difference)]))
    assert is_proved(
        Rule([((N,), sum_to)], [(x, lambda i: total(N, lambda k: bracket(index_nonnegative(k - i)) * g[k]))])
    )


def test_a_range_that_ends_at_an_index() -> None:
    x, g = Variable("x", (N,)), upstream(0, (N,))
    assert is_proved(
        Rule(
            [((N,), lambda i: total(i + 1, lambda k: x[k]))],
            [(x, lambda i: total(N - i, lambda k: g[i + k]))],
        )
    )


def test_flat_and_split_axes_meet() -> None:
    c, q = sizes("c q")
    flat, split, g = Variable("x", (q * c,)), Variable("y", (q, c)), upstream(0, (q * c,))
    squares = Rule(
        [((q * c,), lambda i: flat[i] * split[i // c, i % c])],
        [
            (flat, lambda i: g[i] * split[i // c, i % c]),
            (split, lambda i, j: g[i * c + j] * flat[i * c + j]),
        ],
    )
    assert is_proved(squares)
    from shaped.spec.canonical import compare

    whole = total(q * c, lambda i: flat[i])
    assert compare(total(q, lambda i: total(c, lambda j: flat[i * c + j])), whole).equal is True
