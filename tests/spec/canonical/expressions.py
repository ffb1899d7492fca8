"""Random index expressions and points, with what is hard for a canonical form: zeros, ties, coinciding entries."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

from shaped.spec.dims import Dim
from shaped.spec.expr import (
    Condition,
    Exists,
    Expr,
    Flag,
    Greatest,
    Product,
    Sum,
    Variable,
    apply,
    both,
    index_nonnegative,
    index_zero,
    negation,
    positive,
    real,
    where,
    zero,
)
from shaped.spec.index import Index, fresh_index, lookup
from tests.spec.canonical.brute_force import Dual, Point

N, M = Dim.name("n"), Dim.name("m")
X, Y, A = Variable("x", (N,)), Variable("y", (M,)), Variable("a", (N, N))
B = Variable("b", (N, M))
FLAGS = Variable("f", (N,), "bool")
VARIABLES = (X, Y, A, B)
VALUES = [Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 2), Fraction(-2)]


class Maker:
    """Makes random expressions."""

    def __init__(self, draw: random.Random, *, smooth: bool = False) -> None:
        self.draw = draw
        self.smooth = smooth  # without conditions and maxima of values

    def place(self, scope: list[Index], size: Dim) -> Dim:
        """A place on an axis of this size."""
        own = [index.dim for index in scope if index.size == size]
        options = [*own, *own, Dim.of(0), size - 1]
        if size == N and self.draw.random() < 0.15 and own:
            options = [lookup("t", (own[0],), N)]
        return self.draw.choice(options)

    def entry(self, scope: list[Index]) -> Expr:
        variable = self.draw.choice(VARIABLES)
        return variable[tuple(self.place(scope, size) for size in variable.sizes)]

    def guarded_entry(self, scope: list[Index]) -> Expr:
        """An entry at a shifted place, where it exists."""
        place = self.place(scope, N) + self.draw.choice([-1, 1])
        return where(both(index_nonnegative(place), index_nonnegative(N - 1 - place)), X[place], 0)

    def number(self, depth: int, scope: list[Index]) -> Expr:
        draw = self.draw
        if depth <= 0:
            return draw.choice(
                [
                    lambda: self.entry(scope),
                    lambda: self.entry(scope),
                    lambda: self.guarded_entry(scope),
                    lambda: real(draw.choice(VALUES)),
                    lambda: real(draw.choice([N, M, *(index.dim for index in scope)])),
                ]
            )()
        kinds = ["add", "add", "multiply", "multiply", "power", "exp", "sum", "sum", "product", "log", "sigmoid"]
        if not self.smooth:
            kinds += ["where", "where", "abs", "greatest", "bracket", "root"]
        kind = draw.choice(kinds)
        inner = depth - 1
        match kind:
            case "add":
                return self.number(inner, scope) + draw.choice([1, -1]) * self.number(inner, scope)
            case "multiply":
                return self.number(inner, scope) * self.number(inner, scope)
            case "power":
                return _power(self.number(inner, scope), draw.choice([2, -1, -1, 3, -2]))
            case "root":
                return _power(self.number(inner, scope), Fraction(draw.choice([1, -1, 3]), 2))
            case "exp" | "log" | "abs" | "sigmoid":
                return apply(kind, self.number(inner, scope))
            case "where":
                return where(self.condition(inner, scope), self.number(inner, scope), self.number(inner, scope))
            case "bracket":
                return where(self.condition(inner, scope), 1, 0) * self.number(inner, scope)
        index = fresh_index(draw.choice([N, M, Dim.of(2)] if draw.random() < 0.9 else [self.place(scope, N) + 1]), "k")
        body = self.number(inner, [*scope, index])
        return {"sum": Sum, "product": Product, "greatest": Greatest}[kind](index, body)

    def condition(self, depth: int, scope: list[Index]) -> Condition:
        draw = self.draw
        match draw.choice(["positive", "zero", "place", "place", "flag", "not", "both", "exists"]):
            case "positive":
                return positive(self.number(depth - 1, scope))
            case "zero":
                return zero(self.number(depth - 1, scope))
            case "flag":
                return Flag(FLAGS, (self.place(scope, N),))
            case "not":
                return negation(self.condition(depth - 1, scope))
            case "both":
                return both(self.condition(depth - 1, scope), self.condition(depth - 1, scope))
            case "exists":
                index = fresh_index(N, "e")
                return Exists(index, self.condition(depth - 1, [*scope, index]))
        make = draw.choice([index_nonnegative, index_zero])
        size = draw.choice([N, M])
        return make(self.place(scope, size) - self.place(scope, size) + draw.choice([0, 0, 1, -1]))


def _power(base: Expr, exponent: int | Fraction) -> Expr:
    try:
        return base**exponent
    except ZeroDivisionError:
        return base


def points(draw: random.Random, free: list[Index], *, along: str | None = None, most: int = 6) -> list[Point]:
    """Random points; with the name of a variable, one random entry of it has slope 1."""
    found = []
    for _ in range(most):
        n, m = draw.choice([1, 2, 2, 3]), draw.choice([1, 2, 3])
        shapes = {"x": (n,), "y": (m,), "a": (n, n), "b": (n, m)}
        entries: dict[tuple[str, tuple[int, ...]], Dual] = {}
        for name, shape in shapes.items():
            for place in itertools.product(*map(range, shape)):
                entries[name, place] = Dual(draw.choice(VALUES))
        for place in range(n):
            entries["f", (place,)] = Dual(Fraction(draw.randrange(2)))
            entries["t", (place,)] = Dual(Fraction(draw.randrange(n)))
        if along is not None:
            place = tuple(draw.randrange(size) for size in shapes[along])
            entries[along, place] = Dual(entries[along, place].value, Fraction(1))
        (size_n,), (size_m,) = N.symbols(), M.symbols()
        symbols = {size_n: n, size_m: m}
        for index in free:
            symbols[index] = draw.randrange(index.size.evaluate(symbols))
        found.append(Point(symbols, entries))
    return found
