"""What conditions say to each other, and to the factors beside them, in a product."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.atoms import Symbol
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    GreatestAtom,
    IndexNonnegativeAtom,
    IndexZeroAtom,
    InfinityAtom,
    Monomial,
    PositiveAtom,
    Rational,
    ZeroAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial
from shaped.spec.canonical.products import Factors, merged, normalise
from shaped.spec.canonical.ranges import (
    coefficient_of,
    is_negative,
    is_nonnegative,
    is_within,
    simplified,
)
from shaped.spec.canonical.search import any_atom
from shaped.spec.dims import Dim, FloorDiv
from shaped.spec.index import Lookup, free_indices

if TYPE_CHECKING:
    pass

from shaped.spec.canonical.index_conditions import index_zero

LARGEST_SCALE = 16  # by which a condition is multiplied to compare it with another


def reduced(context: Context, coefficient: Rational, factors: Factors, conditions: list[Atom]) -> Polynomial | None:
    """The product simplified by what its indicators say; None if they say nothing more."""
    drop = _implied(conditions)
    if drop is CONTRADICTION:
        return Polynomial(context, {})
    if drop is None:
        drop = _implied_by_ranges(context, conditions)
        if drop is CONTRADICTION:
            return Polynomial(context, {})
    if isinstance(drop, Atom):
        return normalise(context, coefficient, merged(factors, [(drop, -1)]))
    for atom in conditions:
        result = None
        if isinstance(atom, ZeroAtom):
            result = _with_zero_used(context, coefficient, factors, atom)
        elif isinstance(atom, IndexZeroAtom):
            result = _with_quotient_joined(context, coefficient, factors, atom)
            if result is None:
                result = _with_index_replaced(context, coefficient, factors, atom)
        if result is not None:
            return result
    return None


class _Contradiction:
    """Two conditions that never hold together."""


CONTRADICTION = _Contradiction()


def _implied(conditions: list[Atom]) -> Atom | _Contradiction | None:
    """A condition on numbers that another implies, or that they contradict each other: u + a and u + b are compared."""
    zeros = [atom for atom in conditions if isinstance(atom, ZeroAtom)]
    for first, second in itertools.combinations(zeros, 2):
        if any(_is_finite_and_infinite(first.argument - second.argument.scaled(sign)) for sign in (1, -1)):
            return CONTRADICTION
    groups: dict[frozenset[tuple[Monomial, Rational]], list[tuple[Atom, Rational]]] = {}
    for atom in conditions:
        if isinstance(atom, (PositiveAtom, ZeroAtom)):
            terms = atom.argument.terms
            key = frozenset(term for term in terms.items() if term[0])
            groups.setdefault(key, []).append((atom, terms.get((), 0)))
    for group in groups.values():
        for (left, a), (right, b) in itertools.combinations(group, 2):
            if isinstance(left, ZeroAtom) and isinstance(right, ZeroAtom):
                return CONTRADICTION  # u = -a and u = -b
            if isinstance(left, PositiveAtom) and isinstance(right, PositiveAtom):
                return left if a > b else right  # u > -a is weaker than u > -b
            number, over = (a, b) if isinstance(left, ZeroAtom) else (b, a)
            if over > number:  # u = -number and u > -over
                return right if isinstance(left, ZeroAtom) else left
            return CONTRADICTION
    return None


def _is_finite_and_infinite(form: Polynomial) -> bool:
    """Whether the form is infinity and a finite number: no maximum, which may be infinite itself, takes part."""
    infinite = [m for m in form.terms if any(isinstance(atom, InfinityAtom) for atom, _ in m)]
    if len(infinite) != 1 or len(infinite[0]) != 1 or infinite[0][0][1] != 1:
        return False
    rest = Polynomial(form.context, {m: c for m, c in form.terms.items() if m not in infinite})
    return not any_atom(rest, lambda atom: isinstance(atom, (InfinityAtom, GreatestAtom)))


def _implied_by_ranges(context: Context, conditions: list[Atom]) -> Atom | _Contradiction | None:
    """A condition on indices that another implies by the ranges, or that they contradict each other."""
    known = context.known
    for atom in conditions:
        if not isinstance(atom, IndexNonnegativeAtom):
            continue
        for other in conditions:
            if other is atom or not isinstance(other, (IndexNonnegativeAtom, IndexZeroAtom)):
                continue
            signs = (1,) if isinstance(other, IndexNonnegativeAtom) else (1, -1)
            for scale in (1, *_scales(atom.dim, other.dim)):
                # For integers, scale*d + scale - 1 >= 0 says d >= 0, and scale*d < 0 says d < 0.
                if any(is_nonnegative(atom.dim * scale + (scale - 1) - other.dim * sign, known) for sign in signs):
                    return atom
                if any(is_negative(atom.dim * scale + other.dim * sign, known) for sign in signs):
                    return CONTRADICTION
    return None


def _scales(dim: Dim, other: Dim) -> list[int]:
    """Numbers above 1 by which `dim` may be multiplied to meet a term of the other."""
    found = dict(other.terms)
    scales = {abs(found[m]) // abs(c) for m, c in dim.terms if m and m in found and found[m] % c == 0}
    return sorted(scale for scale in scales if 1 < scale <= LARGEST_SCALE)


def _with_zero_used(context: Context, coefficient: Rational, factors: Factors, atom: ZeroAtom) -> Polynomial | None:
    """[u = 0]*u is 0, and the leading term of u is minus the rest. A negative power of u is left as it stands."""
    from shaped.spec.canonical.powers import order_of

    single = atom.argument.single
    if single is not None:
        if len(single[0]) != 1:
            return None
        base = single[0][0][0]
        return Polynomial(context, {}) if factors.get(base, 0) > 0 else None
    terms = sorted(atom.argument.terms, key=order_of)
    lead = terms[-1]
    if order_of(lead) == order_of(terms[-2]) or any(e < 0 for _, e in lead):
        return None
    if all(factors.get(a, 0) >= e for a, e in lead):
        if any(isinstance(a, BaseAtom) and e < 0 and a.base == atom.argument for a, e in factors.items()):
            return None
        c = atom.argument.terms[lead]
        rest = Polynomial(context, {m: k for m, k in atom.argument.terms.items() if m != lead})
        without = normalise(context, coefficient, merged(factors, [(a, -e) for a, e in lead]))
        return (rest * without).scaled(-1 / Fraction(c))
    return None


def _with_quotient_joined(
    context: Context, coefficient: Rational, factors: Factors, atom: IndexZeroAtom
) -> Polynomial | None:
    """[v = e // c] and [w = e % c], with 0 <= w < c, are [e = v*c + w]."""
    for monomial, sign in atom.dim.terms:
        if abs(sign) != 1 or len(monomial) != 1 or monomial[0][1] != 1 or not isinstance(monomial[0][0], FloorDiv):
            continue
        quotient = monomial[0][0]
        value = Dim.atom(quotient) - atom.dim * sign
        for other, e in factors.items():
            if other is atom or not e or not isinstance(other, IndexZeroAtom) or quotient not in other.dim.atoms():
                continue
            dim = simplified(_with_atom_replaced(other.dim, quotient, value))
            rest = quotient.numerator - quotient.denominator * value
            if any(is_within(rest + dim * turn, quotient.denominator, context.known) for turn in (1, -1)):
                kept = normalise(context, coefficient, merged(factors, [(atom, -1), (other, -1)]))
                return kept * index_zero(context, dim)
    return None


def _with_atom_replaced(dim: Dim, atom: FloorDiv, value: Dim) -> Dim:
    return dim.replace_atoms(lambda each: value if each == atom else None)


def _with_index_replaced(
    context: Context, coefficient: Rational, factors: Factors, atom: IndexZeroAtom
) -> Polynomial | None:
    """[i = e]*f(i) is [i = e]*f(e): the last index that the condition determines is replaced in the other factors."""
    from shaped.spec.canonical.substitution import power_with

    dim = atom.dim
    found = [index for index in free_indices(dim) if coefficient_of(dim, index) in (1, -1)]
    if not found:
        return None
    has_lookup = any(isinstance(symbol, Lookup) for symbol in dim.symbols())
    if len(dim.terms) > 2 and not has_lookup:
        return None
    index = max(found, key=_scope)
    others = [a for a, e in factors.items() if a is not atom and e and index in a.free]
    if not others:
        return None
    value = index.dim - dim if coefficient_of(dim, index) == 1 else index.dim + dim
    result = normalise(context, coefficient, {a: e for a, e in factors.items() if a not in others})
    for other in others:
        result = result * power_with(other, factors[other], {index: value})
    return result


def _scope(symbol: Symbol) -> tuple[int, str]:
    return (len(symbol.scope), symbol.scope)
