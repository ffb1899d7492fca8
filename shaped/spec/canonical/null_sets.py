"""Sets that are certainly null: two functions that differ only there have one gradient almost everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import Atom, EntryAtom, ExpAtom, Monomial, NumberAtom, PiAtom, PrimeAtom, SumAtom
from shaped.spec.canonical.polynomials import Polynomial
from shaped.spec.canonical.ranges import is_negative, is_nonnegative
from shaped.spec.canonical.signs import Sign, sign_of, sign_of_power

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Context
    from shaped.spec.dims import Dim


def is_null(form: Polynomial) -> bool:
    """Whether the zeros of the form are certainly a null set, for every size and every place of the free indices.

    Three arguments are known. A form of entries, exponentials and sums that has only positive coefficients is analytic
    everywhere and positive where all entries are 1: it is not identically 0, so its zeros are null. One that has a
    constant term is not 0 where all entries are 0. And a form that is affine in one entry, which no other entry can
    coincide with, has at most one zero for each value of the others. Conditions and maxima take part in none.
    """
    positive = _is_positive_at_ones(form) or _is_positive_at_ones(-form)
    return positive or _is_constant_at_zeros(form) or _is_affine_in_an_entry(form)


def _is_constant_at_zeros(form: Polynomial) -> bool:
    """Whether the form is analytic everywhere, and another number than 0 where all entries are 0."""
    constants = [m for m in form.terms if all(not atom.variables and not atom.is_indicator for atom, _ in m)]
    constant = Polynomial(form.context, {m: form.terms[m] for m in constants})
    others = [m for m in form.terms if m not in constants]
    is_nonzero = Sign.POSITIVE in (sign_of(constant), sign_of(-constant))
    return is_nonzero and all(_is_analytic_and_vanishes(monomial) for monomial in others)


def _is_analytic_and_vanishes(monomial: Monomial) -> bool:
    if not all(_is_analytic(atom) and isinstance(e, int) and e > 0 for atom, e in monomial):
        return False
    return any(
        isinstance(atom, EntryAtom) or (isinstance(atom, SumAtom) and _is_analytic_and_vanishes(atom.body))
        for atom, _ in monomial
    )


def _is_positive_at_ones(form: Polynomial) -> bool:
    positive = all(c > 0 and _is_entire_and_positive(form.context, monomial) for monomial, c in form.terms.items())
    return bool(form.terms) and positive


def _is_entire_and_positive(context: Context, monomial: Monomial) -> bool:
    """Whether the term is defined and analytic for all values of the entries, and positive where all are 1."""
    return all(_is_entire_factor(context, atom) and _is_whole(e, atom) for atom, e in monomial)


def _is_whole(exponent: object, atom: Atom) -> bool:
    always = isinstance(atom, ExpAtom) or (atom.sign is Sign.POSITIVE and not atom.variables)
    return always or (isinstance(exponent, int) and exponent > 0)


def _is_entire_factor(context: Context, atom: Atom) -> bool:
    match atom:
        case EntryAtom(variable, _):
            return variable.definition is None
        case NumberAtom():
            return atom.sign is Sign.POSITIVE
        case PrimeAtom() | PiAtom():
            return True
        case ExpAtom(argument):
            return all(_is_analytic(part) and isinstance(e, int) and e > 0 for part, e in argument)
        case SumAtom(indices, body):
            runs = all(is_nonnegative(index.size - 1, context.known) for index in indices)
            return runs and _is_entire_and_positive(context, body)
    return False


def _is_analytic(atom: Atom) -> bool:
    """Whether the atom is analytic in the entries, whatever its sign."""
    match atom:
        case EntryAtom(variable, _):
            return variable.definition is None
        case NumberAtom() | PrimeAtom() | PiAtom():
            return True
        case ExpAtom(body) | SumAtom(_, body):
            return all(_is_analytic(part) and isinstance(e, int) and e > 0 for part, e in body)
    return False


def _is_affine_in_an_entry(form: Polynomial) -> bool:
    """Whether some entry stands by itself in one term, times what is never 0, and can coincide with no other."""
    entries = [atom for m in form.terms for atom, e in m if isinstance(atom, EntryAtom) and e == 1]
    return any(_is_alone(form, atom) for atom in dict.fromkeys(entries))


def _is_alone(form: Polynomial, entry: EntryAtom) -> bool:
    if entry.variable.definition is not None:
        return False
    context, name = form.context, entry.variable.name
    found = False
    for monomial in form.terms:
        if any(atom.is_indicator for atom, _ in monomial):
            return False
        own = [e for atom, e in monomial if atom is entry]
        others = [atom for atom, _ in monomial if atom is not entry]
        if any(not _is_apart(context, atom, entry, name) for atom in others):
            return False
        if own:
            if found or own != [1]:
                return False
            found = all(sign_of_power(atom, e) is Sign.POSITIVE for atom, e in monomial if atom is not entry)
            if not found:
                return False
    return found


def _is_apart(context: Context, atom: Atom, entry: EntryAtom, name: str) -> bool:
    """Whether the atom certainly does not depend on the entry."""
    if name not in atom.variables:
        return True
    if isinstance(atom, EntryAtom) and atom.variable.definition is None:
        return any(_differ(context, a, b) for a, b in zip(atom.at, entry.at, strict=True))
    return False


def _differ(context: Context, left: Dim, right: Dim) -> bool:
    difference = left - right
    return is_negative(difference, context.known) or is_negative(-difference, context.known)
