"""Index expressions know what follows from the ranges of their indices."""

from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from shaped.spec.dims import Dim
from shaped.spec.index import (
    Index,
    flatten,
    free_indices,
    fresh_index,
    greatest_value,
    is_nonnegative,
    is_within,
    lookup,
    split,
)

N, M = Dim.name("n"), Dim.name("m")


def test_indices_are_different_even_where_they_print_alike() -> None:
    first, second = fresh_index(N), fresh_index(N)
    assert str(first) == str(second)
    assert first != second
    assert first.dim - second.dim != 0


def test_an_index_lies_in_its_range() -> None:
    i = fresh_index(N).dim
    assert is_within(i, N)
    assert is_within(N - 1 - i, N)
    assert not is_within(i + 1, N)
    assert not is_within(i, M)


def test_a_lookup_follows_the_indices_of_its_place_and_keeps_its_bound() -> None:
    i = fresh_index(N)
    entry = lookup("y", (i.dim,), M)
    assert is_within(entry, M)
    assert not is_within(entry, N)
    assert free_indices(entry) == {i}
    assert entry.substitute({i: Dim.of(0)}) == lookup("y", (Dim.of(0),), M)
    assert entry != lookup("z", (i.dim,), M)
    assert str(2 * entry) == "2*y[i]"


@given(st.integers(1, 4), st.integers(1, 4), st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_the_greatest_value_is_never_exceeded(n: int, m: int, factors: list[int]) -> None:
    i, j = fresh_index(N), fresh_index(M)
    a, b, c, d = factors
    expression = a * i.dim + b * j.dim + c * i.dim * j.dim + d * N
    greatest = greatest_value(expression)
    assert greatest is not None
    symbols = {symbol: size for symbol, size in zip((N.symbol, M.symbol), (n, m)) if symbol is not None}
    values = [
        expression.evaluate({**symbols, i: at_i, j: at_j}) for at_i, at_j in itertools.product(range(n), range(m))
    ]
    assert max(values) <= greatest.evaluate(symbols)
    if is_nonnegative(expression):
        assert min(values) >= 0


def test_products_of_entries_that_may_be_negative_have_no_greatest_value() -> None:
    entry = lookup("y", (Dim.of(0),), N, low=-3)
    assert greatest_value(entry) == N - 1
    assert greatest_value(-entry) == 3
    assert greatest_value(entry * entry) is None
    assert greatest_value(entry * lookup("z", (Dim.of(0),), N, low=-3)) is None


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_flatten_undoes_split(sizes: list[int], data: st.DataObject) -> None:
    place = Dim.of(data.draw(st.integers(0, math.prod(sizes) - 1)))
    dims = [Dim.of(size) for size in sizes]
    parts = split(place, dims)
    assert all(is_within(part, size) for part, size in zip(parts, dims))
    assert flatten(parts, dims) == place


@given(st.lists(st.sampled_from(["n", "m", "k", 2, 3]), min_size=1, max_size=4))
def test_split_undoes_flatten_for_symbolic_sizes_without_a_division(names: list[str | int]) -> None:
    sizes = [Dim.name(name) if isinstance(name, str) else Dim.of(name) for name in names]
    places = [fresh_index(size).dim for size in sizes]
    assert list(split(flatten(places, sizes), sizes)) == places


def test_a_place_whose_rest_is_not_seen_to_be_in_range_is_divided() -> None:
    i: Index = fresh_index(N)
    quotient, rest = split(i.dim, (N // 2, Dim.of(2)))
    assert quotient == i.dim // 2
    assert rest == i.dim % 2
