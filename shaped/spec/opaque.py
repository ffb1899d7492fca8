"""Sizes too large to follow: they become one unknown size each, so that every program is checked in bounded time."""

from __future__ import annotations

from collections.abc import Mapping

from shaped.spec.dims import MOST_BITS, MOST_DEGREE, MOST_TERMS, Atom, Dim, DimLike, Kind, Min, Symbol

MOST_CHOICES = 12  # of a minimum
LONGEST_KEY = 1200  # characters that tell a size from others, a measure of what is nested in it


def bounded(dim: Dim) -> Dim:
    """`dim`, or an unknown size that stands for it and is equal only to itself if `dim` is too large.

    >>> h = Dim.name("h")
    >>> print(bounded(h**3), h**33 == h**33, h**33)
    h*h*h True _
    """
    small = (
        len(dim.terms) <= MOST_TERMS
        and dim.degree <= MOST_DEGREE
        and all(
            coefficient.bit_length() <= MOST_BITS and all(_is_small(atom) for atom, _ in monomial)
            for monomial, coefficient in dim.terms
        )
    )
    return dim if small else opaque(dim.sort_key, dim.symbols())


def _is_small(atom: Atom) -> bool:
    if isinstance(atom, Min) and len(atom.choices) > MOST_CHOICES:
        return False
    return isinstance(atom, Symbol) or len(atom.sort_key[1]) <= LONGEST_KEY


def after_substitution(symbol: Symbol, values: Mapping[Symbol, DimLike]) -> Dim:
    """The unknown size that an opaque one becomes when names that it hides are replaced."""
    replaced = sorted(symbol.hides & values.keys(), key=lambda hidden: hidden.sort_key)
    new = [Dim.of(values[hidden]) for hidden in replaced]
    key = ";".join(f"{old.sort_key[1]}={by.sort_key}" for old, by in zip(replaced, new, strict=True))
    hides = symbol.hides.difference(replaced).union(*(by.symbols() for by in new))
    return opaque(f"{symbol.name};{key}", hides)


def opaque(key: str, hides: frozenset[Symbol]) -> Dim:
    """The unknown size that stands for the one that `key` tells from all others."""
    # Only programs with such sizes pay for the import.
    import hashlib

    return Dim.atom(Symbol(hashlib.sha256(key.encode()).hexdigest(), Kind.UNKNOWN, "opaque", None, hides))
