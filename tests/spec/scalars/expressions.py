"""Random expressions of one index, and points for them."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, Greatest, Product, Sum, Variable, apply, positive, power, real, where
from shaped.spec.index import fresh_index

N = Dim.name("n")
AT, OTHER = fresh_index(N, "i"), fresh_index(N, "j")
X, Y = Variable("x", (N,)), Variable("y", (N,))
_LEAVES = [X[AT.dim], Y[AT.dim], X[N - 1 - AT.dim], real(Fraction(1, 3)), real(2), real(AT.dim)]
SMOOTH = ("exp", "tanh", "sigmoid", "sin", "erf", "atan")


def expressions(functions: tuple[str, ...] = (), depth: int = 3) -> st.SearchStrategy[Expr]:
    """Expressions with all kinds of nodes; rational ones unless functions are named."""
    return st.integers(0, 2**32).map(lambda seed: _grown(random.Random(seed), functions, depth))


def _grown(source: random.Random, functions: tuple[str, ...], depth: int) -> Expr:
    def inner() -> Expr:
        return _grown(source, functions, depth - 1)

    def along() -> Expr:
        return inner() + Y[OTHER.dim] * X[AT.dim]

    if depth == 0:
        return source.choice(_LEAVES)
    if functions and source.random() < 0.3:
        return apply(source.choice(functions), inner())
    kinds = [
        lambda: inner() + inner(),
        lambda: inner() - inner(),
        lambda: inner() * inner(),
        lambda: power(power(inner(), 2) + 1, -1),
        lambda: power(inner(), 2),
        lambda: where(positive(inner()), inner(), inner()),
        lambda: Sum(OTHER, along()),
        lambda: Greatest(OTHER, along()),
        lambda: Product(OTHER, along()),
    ]
    return source.choice(kinds)()


def points() -> st.SearchStrategy[dict[str, list[Fraction]]]:
    """Values of the tensors for n = 3, which floats of 32 bits hold exactly."""
    number = st.integers(-128, 128).map(lambda whole: Fraction(whole, 64))
    row = st.lists(number, min_size=3, max_size=3)
    return st.fixed_dictionaries({"x": row, "y": row})
