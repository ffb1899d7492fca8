"""Hypothesis strategies for sizes, and brute force over small values to hold the algebra against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from hypothesis import strategies as st

from shaped.spec.dims import Dim, Kind, Symbol, ceildiv, maximum, minimum

NAMES = (Symbol("a"), Symbol("b"))
QUANTITY = Symbol("q", Kind.QUANTITY, low=None)
UNKNOWN = Symbol("u", Kind.UNKNOWN, low=0)
NAMED = (*NAMES, QUANTITY)

Values = Mapping[Symbol, int]
# The same size twice: in normal form, and as a plain function of the values.
Pair = tuple[Dim, Callable[[Values], int]]


def _symbol(symbol: Symbol) -> Pair:
    return Dim.atom(symbol), lambda values: values[symbol]


def _constant(value: int) -> Pair:
    return Dim.of(value), lambda values: value


def leaves(symbols: tuple[Symbol, ...] = NAMED) -> st.SearchStrategy[Pair]:
    """One name or one small constant."""
    return st.one_of(st.sampled_from(symbols).map(_symbol), st.integers(-5, 6).map(_constant))


def _combine(operation: str, left: Pair, right: Pair) -> Pair:
    (a, f), (b, g) = left, right
    match operation:
        case "+":
            return a + b, lambda values: f(values) + g(values)
        case "-":
            return a - b, lambda values: f(values) - g(values)
        case "*":
            return a * b, lambda values: f(values) * g(values)
        case "min":
            return minimum(a, b), lambda values: min(f(values), g(values))
        case "max":
            return maximum(a, b), lambda values: max(f(values), g(values))
    if b == 0:
        return left
    match operation:
        case "//":
            return a // b, lambda values: f(values) // g(values)
        case "%":
            return a % b, lambda values: f(values) % g(values)
        case _:
            return ceildiv(a, b), lambda values: -(-f(values) // g(values))


ALL = "+ - * // // % ceil min max"


def pairs(symbols: tuple[Symbol, ...] = NAMED, most: int = 6, operations: str = ALL) -> st.SearchStrategy[Pair]:
    """Sizes built from up to `most` leaves."""
    return st.recursive(
        leaves(symbols),
        lambda inner: st.builds(_combine, st.sampled_from(operations.split()), inner, inner),
        max_leaves=most,
    )


def dims(symbols: tuple[Symbol, ...] = NAMED, most: int = 5, operations: str = ALL) -> st.SearchStrategy[Dim]:
    """The normal forms of `pairs`."""
    return pairs(symbols, most, operations).map(lambda pair: pair[0])


def small_values(symbols: tuple[Symbol, ...] | frozenset[Symbol], top: int = 6) -> Iterator[dict[Symbol, int]]:
    """Every assignment of small values that the symbols allow."""
    ordered = sorted(symbols, key=lambda symbol: symbol.sort_key)
    ranges = [range(-3 if symbol.low is None else symbol.low, top + 1) for symbol in ordered]
    for chosen in itertools.product(*ranges):
        yield dict(zip(ordered, chosen, strict=True))


def expand_ceil(source: str) -> str:
    """Every `ceil(x/y)` in a size's text as Python's `-(-(x)//(y))`."""
    while "ceil(" in source:
        start = source.rindex("ceil(")
        depth, slash, end = 0, 0, start
        for i in range(start + 4, len(source)):
            depth += {"(": 1, ")": -1}.get(source[i], 0)
            if depth == 1 and source[i] == "/" and "/" not in (source[i - 1], source[i + 1]):
                slash = i
            if depth == 0:
                end = i
                break
        quotient = f"(-(-({source[start + 5 : slash]})//({source[slash + 1 : end]})))"
        source = source[:start] + quotient + source[end + 1 :]
    return source


def read_back(text: str, values: Values) -> int:
    """The value of a text about sizes (`d%h`, `t <= 64`) for values of its names."""
    scope = {"min": min, "max": max}
    return int(eval(expand_ceil(text), scope, {symbol.name: value for symbol, value in values.items()}))
