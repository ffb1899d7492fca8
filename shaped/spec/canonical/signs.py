"""Signs of canonical forms, as far as they are certain: sufficient tests only."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    EntryAtom,
    ExpAtom,
    GreatestAtom,
    InfinityAtom,
    NumberAtom,
    PiAtom,
    PrimeAtom,
    ProductAtom,
    Rational,
    SumAtom,
    ZeroAtom,
)
from shaped.spec.canonical.ranges import is_nonnegative
from shaped.spec.dims import ZERO, Dim

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Context, Polynomial


class Sign(enum.Enum):
    """What is certain of a number wherever it is defined."""

    POSITIVE = "> 0"
    NONNEGATIVE = ">= 0"


def sign_of_power(atom: Atom, exponent: Rational) -> Sign | None:
    """The sign of a power of an atom, None if it is not certain."""
    own: Sign | None = atom.sign
    if own is Sign.POSITIVE:
        return own
    if isinstance(exponent, int) and exponent % 2:
        # A number that is not negative and has a negative power is positive.
        return own if own is None or exponent > 0 else Sign.POSITIVE
    # An even power; or a root, which is only taken of numbers that are not negative.
    return Sign.NONNEGATIVE if exponent > 0 else Sign.POSITIVE


def sign_of(form: Polynomial) -> Sign | None:
    """The sign of a form, None if it is not certain."""
    found: Sign | None = Sign.NONNEGATIVE
    for monomial, c in form.terms.items():
        signs = [sign_of_power(atom, e) for atom, e in monomial]
        if c < 0 or None in signs:
            found = None
            break
        if all(sign is Sign.POSITIVE for sign in signs):
            found = Sign.POSITIVE
    if found is not Sign.POSITIVE:
        size = as_dim(form)
        if size is not None:
            known = form.context.known
            if is_nonnegative(size - 1, known):
                return Sign.POSITIVE
            if is_nonnegative(size, known):
                return Sign.NONNEGATIVE
    return found


def as_dim(form: Polynomial) -> Dim | None:
    """The form as an index expression, None if it is none."""
    total = ZERO
    for monomial, c in form.terms.items():
        term = Dim.of(c) if isinstance(c, int) else None
        for atom, e in monomial:
            if term is None or not isinstance(atom, NumberAtom) or not isinstance(e, int) or e < 0:
                return None
            term = term * Dim.atom(atom.atom) ** e
        if term is None:
            return None
        total = total + term
    return total


def sign_of_atom(context: Context, atom: Atom) -> Sign | None:
    """The sign of an atom that is being made, from its parts and what the context assumes."""
    match atom:
        case PrimeAtom() | PiAtom() | ExpAtom() | InfinityAtom():
            return Sign.POSITIVE
        case NumberAtom(inner):
            dim = Dim.atom(inner)
            if is_nonnegative(dim - 1, context.known):
                return Sign.POSITIVE
            return Sign.NONNEGATIVE if is_nonnegative(dim, context.known) else None
        case EntryAtom(variable, _):
            return Sign.POSITIVE if variable.name in context.assumptions.positive else None
        case BaseAtom(base) | GreatestAtom(_, base) | ProductAtom(_, base):
            return sign_of(base)
        case SumAtom():
            return _sign_of_sum(context, atom)
    return Sign.NONNEGATIVE if atom.is_indicator else None


def _sign_of_sum(context: Context, atom: SumAtom) -> Sign | None:
    if len(atom.body) == 1 and isinstance(atom.body[0][0], ZeroAtom) and len(atom.indices) == 1:
        terms = atom.body[0][0].argument.terms
        if any(_is_attained(factor, atom.body[0][0]) for m in terms for factor, _ in m if len(m) == 1):
            return Sign.POSITIVE
    signs = [sign_of_power(part, e) for part, e in atom.body]
    if None in signs:
        return None
    runs = all(is_nonnegative(index.size - 1, context.known) for index in atom.indices)
    return Sign.POSITIVE if runs and all(sign is Sign.POSITIVE for sign in signs) else Sign.NONNEGATIVE


def _is_attained(atom: Atom, condition: ZeroAtom) -> bool:
    """Whether the condition says of a place that its value is the greatest over these places, which some place is."""
    from shaped.spec.canonical.substitution import renamed

    if not isinstance(atom, GreatestAtom):
        return False
    difference = condition.argument.terms.get(((atom, 1),))
    if difference not in (1, -1):
        return False
    others = condition.argument - condition.argument.context.power_of(atom).scaled(difference)
    places = others.free - atom.free
    if len(places) != 1:
        return False
    (place,) = places
    if place.size != atom.index.size:
        return False
    return renamed(others.scaled(-difference), {place: atom.index.dim}) == atom.body
