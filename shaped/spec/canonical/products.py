"""Products of monomials, brought to normal form by the rules of their atoms."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from shaped.spec.canonical.assumptions import Undefined
from shaped.spec.canonical.atoms import Atom, BaseAtom, CosineAtom, Monomial, PrimeAtom, ProductAtom, Rational
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Factors = dict[Atom, Rational]


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    for one, other in ((left, right), (right, left)):
        constant = one.constant
        if constant is not None:
            return other.scaled(constant)
    context = left.context
    terms: dict[Monomial, Rational] = {}
    for monomial, c in left.terms.items():
        for other_monomial, d in right.terms.items():
            accumulate(terms, normalise(context, c * d, merged(monomial, other_monomial)))
    return Polynomial(context, terms)


def product_of(context: Context, parts: Iterable[Polynomial]) -> Polynomial:
    """The product of polynomials."""
    total = context.constant(1)
    for part in parts:
        total = total * part
    return total


def merged(factors: Monomial | Mapping[Atom, Rational], more: Iterable[tuple[Atom, Rational]]) -> Factors:
    """Factors with more factors: exponents of one atom add up."""
    result = dict(factors)
    for atom, exponent in more:
        total = result.get(atom, 0) + exponent
        if total:
            result[atom] = exact(total)
        else:
            result.pop(atom, None)
    return result


def monomial_of(factors: Mapping[Atom, Rational]) -> Monomial:
    """The monomial with these factors, which must be in normal form."""
    return tuple(sorted(((a, e) for a, e in factors.items() if e), key=_number))


def _number(factor: tuple[Atom, Rational]) -> int:
    return factor[0].number


def normalise(context: Context, coefficient: Rational, factors: Factors) -> Polynomial:
    """The coefficient times the powers of atoms, in normal form.

    Raises:
        Undefined: a division by a condition.
        Undecided: too many steps were made.
    """
    context.count_step()
    if not coefficient:
        return Polynomial(context, {})
    special = [atom for atom, exponent in factors.items() if exponent and not atom.is_plain]
    if special:
        result = _reduced(context, coefficient, dict(factors), special)
        if result is not None:
            return result
    return Polynomial(context, {monomial_of(factors): exact(coefficient)})


def _reduced(context: Context, coefficient: Rational, factors: Factors, special: list[Atom]) -> Polynomial | None:
    """What a rule of one of the special atoms makes of the product, None if it is in normal form."""
    from shaped.spec.canonical import functions, implications, powers, prefix_products

    for atom in special:
        exponent = factors[atom]
        if isinstance(atom, PrimeAtom):
            whole = floor(exponent)
            if whole:
                factors[atom] = exact(exponent - whole)
                return normalise(context, exact(coefficient * Fraction(atom.prime) ** whole), factors)
        elif atom.is_indicator:
            if exponent < 0:
                raise Undefined("a division by a condition")
            if exponent != 1:
                factors[atom] = 1
                return normalise(context, coefficient, factors)
        elif isinstance(atom, BaseAtom):
            if exponent >= 1:  # its whole part is expanded; what is left, between 0 and 1, stays an atom
                whole = floor(exponent)
                factors[atom] = exact(exponent - whole)
                return normalise(context, coefficient, factors) * powers.power(atom.base, whole)
        elif isinstance(atom, CosineAtom) and exponent >= 2:
            sine = functions.sine(atom.argument)
            factors[atom] = exact(exponent - 2)
            return normalise(context, coefficient, factors) * (1 - sine * sine)
    conditions = [atom for atom in special if atom.is_indicator]
    if conditions:
        result = implications.reduced(context, coefficient, factors, conditions)
        if result is not None:
            return result
    for atom in special:
        if isinstance(atom, BaseAtom) and factors[atom] < 0:
            result = powers.with_lead_replaced(context, coefficient, factors, atom)
            if result is not None:
                return result
    products = [atom for atom in special if isinstance(atom, ProductAtom)]
    if products:
        return prefix_products.reduced(context, coefficient, factors, products)
    return None
