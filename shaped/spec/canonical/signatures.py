"""Hashes of atoms that do not depend on what indices are called, for orders that survive a renaming.

Two different things may have equal signatures: they are used to order and to sort out, never to say that two are equal.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    CosineAtom,
    EntryAtom,
    ExpAtom,
    FlagAtom,
    FunctionAtom,
    GreatestAtom,
    IndexNonnegativeAtom,
    IndexZeroAtom,
    Monomial,
    NumberAtom,
    PositiveAtom,
    PrimeAtom,
    ProductAtom,
    SumAtom,
    ZeroAtom,
)
from shaped.spec.dims import Dim, FloorDiv, Min, Symbol
from shaped.spec.index import Index, Lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shaped.spec import dims
    from shaped.spec.canonical.polynomials import Polynomial

Colours = dict[Index, int]
NO_COLOURS: Colours = {}


@cache
def text_signature(text: str) -> int:
    """A hash of a text that is the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "big")


def atom_signature(atom: Atom, colours: Mapping[Index, int]) -> int:
    """The hash of an atom in which each index is its colour, or only the size of its axis."""
    if atom.free.isdisjoint(colours) and hasattr(atom, "signature"):
        return atom.signature
    kind = text_signature(type(atom).__name__)
    match atom:
        case NumberAtom(inner):
            return hash((kind, _of_dim_atom(inner, colours)))
        case PrimeAtom(prime):
            return hash((kind, prime))
        case EntryAtom(variable, at) | FlagAtom(variable, at):
            return hash((kind, text_signature(variable.name), *(dim_signature(dim, colours) for dim in at)))
        case ExpAtom(argument):
            return hash((kind, monomial_signature(argument, colours)))
        case FunctionAtom(function, argument):
            return hash((kind, text_signature(function), polynomial_signature(argument, colours)))
        case CosineAtom(argument) | BaseAtom(argument) | PositiveAtom(argument) | ZeroAtom(argument):
            return hash((kind, polynomial_signature(argument, colours)))
        case GreatestAtom(_, body) | ProductAtom(_, body):
            return hash((kind, polynomial_signature(body, colours)))
        case SumAtom(indices, body):
            return hash((kind, len(indices), monomial_signature(body, colours)))
        case IndexZeroAtom(dim):  # [e = 0] is [-e = 0]
            signatures = sorted((dim_signature(dim, colours), dim_signature(-dim, colours)))
            return hash((kind, *signatures))
        case IndexNonnegativeAtom(dim):
            return hash((kind, dim_signature(dim, colours)))
    return kind


def shape_of(atom: Atom) -> int:
    """A coarser hash, which no replacement of indices changes: all places count the same."""
    kind = text_signature(type(atom).__name__)
    match atom:
        case NumberAtom(inner):
            is_place = isinstance(inner, (Index, Lookup)) or bool(atom.free)
            return kind if is_place else hash((kind, _of_dim_atom(inner, NO_COLOURS)))
        case PrimeAtom(prime):
            return hash((kind, prime))
        case EntryAtom(variable, _) | FlagAtom(variable, _):
            return hash((kind, text_signature(variable.name)))
        case FunctionAtom(function, argument):
            return hash((kind, text_signature(function), _shape_of_polynomial(argument)))
        case CosineAtom(argument) | BaseAtom(argument) | PositiveAtom(argument) | ZeroAtom(argument):
            return hash((kind, _shape_of_polynomial(argument)))
        case GreatestAtom(_, body) | ProductAtom(_, body):
            return hash((kind, _shape_of_polynomial(body)))
        case ExpAtom(monomial) | SumAtom(_, monomial):
            return hash((kind, _shape_of_monomial(monomial)))
    return kind


def _shape_of_monomial(monomial: Monomial) -> int:
    return hash(tuple(sorted(hash((atom.shape, exponent)) for atom, exponent in monomial)))


def _shape_of_polynomial(polynomial: Polynomial) -> int:
    terms = (hash((c, _shape_of_monomial(monomial))) for monomial, c in polynomial.terms.items())
    return hash(tuple(sorted(terms)))


def monomial_signature(monomial: Monomial, colours: Mapping[Index, int]) -> int:
    """The hash of a monomial, as `atom_signature`."""
    return hash(tuple(sorted(hash((atom_signature(atom, colours), exponent)) for atom, exponent in monomial)))


def polynomial_signature(polynomial: Polynomial, colours: Mapping[Index, int]) -> int:
    """The hash of a polynomial, as `atom_signature`."""
    terms = (hash((c, monomial_signature(monomial, colours))) for monomial, c in polynomial.terms.items())
    return hash(tuple(sorted(terms)))


def dim_signature(dim: Dim, colours: Mapping[Index, int]) -> int:
    """The hash of an index expression, as `atom_signature`."""
    return hash(
        tuple(
            sorted(
                hash((c, tuple(sorted(hash((_of_dim_atom(atom, colours), power)) for atom, power in monomial))))
                for monomial, c in dim.terms
            )
        )
    )


def _of_dim_atom(atom: dims.Atom, colours: Mapping[Index, int]) -> int:
    match atom:
        case Index():
            colour = colours.get(atom)
            return size_signature(atom.size) if colour is None else colour
        case Lookup():
            return hash((text_signature(atom.name), *(dim_signature(place, colours) for place in atom.at)))
        case Symbol():
            return text_signature(atom.sort_key[1])
        case FloorDiv(numerator, denominator):
            return hash((1, dim_signature(numerator, colours), dim_signature(denominator, colours)))
        case Min(choices):
            return hash((2, *sorted(dim_signature(choice, colours) for choice in choices)))
    raise TypeError(type(atom).__name__)


@cache
def size_signature(size: Dim) -> int:
    """The hash of the size of an axis."""
    return hash((3, text_signature(size.sort_key)))
