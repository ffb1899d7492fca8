"""Indices: places on the axes of tensors, as names that a `Dim` may hold beside sizes.

An index expression such as `2*i + k - 1` is a `Dim`. An `Index` knows the size of its axis, so what follows from
`0 <= i < n` needs no context. The value of an integer tensor at a place, used as an index, is a `Lookup`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.spec.atoms import Kind, Symbol
from shaped.spec.bounds import lower_bound
from shaped.spec.dims import ONE, ZERO, Dim, DimLike
from shaped.spec.normal_form import divide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Index(Symbol):
    """A place on an axis: `0 <= index < size`. Made by `fresh_index`; its number tells it from all others."""

    size: Dim = ZERO

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Index) and self.scope == other.scope)

    __hash__ = Symbol.__hash__

    @property
    def dim(self) -> Dim:
        """The index as an index expression."""
        return Dim.atom(self)


@dataclass(frozen=True, eq=False)
class Lookup(Symbol):
    """The value of the integer tensor `name` at the place `at`: `0 <= value < size` where its size is known."""

    at: tuple[Dim, ...] = ()
    size: Dim | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Lookup) and self.name == other.name and self.at == other.at)

    __hash__ = Symbol.__hash__

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.at))}]" if self.at else self.name

    def substituted(self, values: Mapping[Symbol, Dim | int]) -> Dim:
        """The lookup at the place that its own place becomes."""
        size = None if self.size is None else self.size.substitute(values)
        return lookup(self.name, tuple(place.substitute(values) for place in self.at), size, self.low)


def fresh_index(size: DimLike, name: str = "i") -> Index:
    """A new index on an axis of this size; `name` is how it prints.

    >>> i = fresh_index(Dim.name("n"))
    >>> print(i.dim * 2 + 1, i == fresh_index(Dim.name("n")))
    2*i+1 False
    """
    return Index(name, Kind.INDEX, str(next(_numbers)), 0, size=Dim.of(size))


def lookup(name: str, at: Sequence[Dim], size: Dim | None = None, low: int | None = 0) -> Dim:
    """The entry `at` of the integer tensor `name` as an index; `size` bounds it from above, `low` from below."""
    places = tuple(at)
    hides = frozenset[Symbol]().union(*(place.symbols() for place in places))
    scope = "[" + ",".join(place.sort_key for place in places) + "]"
    return Dim.atom(Lookup(name, Kind.INDEX, scope, low, hides, at=places, size=size))


def greatest_value(dim: Dim) -> Dim | None:
    """An index-free size that `dim` is at most, each index at its end of the range; None if none is found.

    >>> n = Dim.name("n")
    >>> i = fresh_index(n)
    >>> print(greatest_value(2 * i.dim + 1), greatest_value(-i.dim))
    2*n-1 0
    """
    total = ZERO
    for monomial, coefficient in dim.terms:
        is_product = len(monomial) > 1 or any(power > 1 for _, power in monomial)
        if is_product and any(isinstance(atom, Lookup) and (atom.low is None or atom.low < 0) for atom, _ in monomial):
            return None  # a product of two negative numbers is beyond the ends of both
        term = Dim.of(coefficient)
        for atom, power in monomial:
            if isinstance(atom, (Index, Lookup)):
                if coefficient < 0:
                    end = atom.low
                    if end is None:
                        return None
                    term = term * Dim.of(end) ** power
                elif atom.size is None:
                    return None
                else:
                    term = term * (atom.size - 1) ** power
            elif isinstance(atom, Symbol):
                if atom.low is None or atom.low < 0:
                    return None
                term = term * Dim.atom(atom) ** power
            else:
                return None
        total = total + term
    return total


def is_within(dim: Dim, size: Dim) -> bool:
    """Whether `0 <= dim < size` follows from the ranges of the indices and the least values of the sizes."""
    return is_nonnegative(dim) and is_nonnegative(size - 1 - dim)


def is_nonnegative(dim: Dim) -> bool:
    """Whether `dim >= 0` follows from the ranges of the indices and the least values of the sizes."""
    greatest = greatest_value(-dim)
    low = lower_bound(dim if greatest is None else -greatest)
    return low is not None and low >= 0


def split(place: Dim, sizes: Sequence[Dim]) -> tuple[Dim, ...]:
    """The places on axes of these sizes, major first, whose flat place is `place`.

    The quotient is exact where the rest is seen to be in its range; else it is a floor division.

    >>> b, t = Dim.name("b"), Dim.name("t")
    >>> i, j = fresh_index(b, "i"), fresh_index(t, "j")
    >>> print(*split(i.dim * t + j.dim, (b, t)))
    i j
    """
    parts: list[Dim] = []
    for size in reversed(sizes[1:]):
        quotient, rest = divide(place, size)
        if not is_within(rest, size):
            quotient, rest = place // size, place % size
        parts.append(rest)
        place = quotient
    return (place, *reversed(parts)) if sizes else ()


def flatten(places: Sequence[Dim], sizes: Sequence[Dim]) -> Dim:
    """The place on the axis that axes of these sizes merge to, major first."""
    flat, stride = ZERO, ONE
    for place, size in zip(reversed(places), reversed(sizes), strict=True):
        flat = flat + place * stride
        stride = stride * size
    return flat


def free_indices(dim: Dim) -> frozenset[Index]:
    """The indices that an index expression depends on."""
    return frozenset(symbol for symbol in dim.symbols() if isinstance(symbol, Index))


__all__ = [
    "Index",
    "Lookup",
    "flatten",
    "free_indices",
    "fresh_index",
    "greatest_value",
    "is_nonnegative",
    "is_within",
    "lookup",
    "split",
]
