"""Conditions on numbers as forms of value 0 or 1, and forms case by case."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.canonical.assumptions import Undefined
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    ExpAtom,
    Monomial,
    PositiveAtom,
    Rational,
    ZeroAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact
from shaped.spec.canonical.products import Factors, normalise
from shaped.spec.canonical.signs import Sign, sign_of, sign_of_power

if TYPE_CHECKING:
    from collections.abc import Callable

from shaped.spec.canonical.index_conditions import context_atom


def positive(form: Polynomial) -> Polynomial:
    """[form > 0]."""
    context, constant = form.context, form.constant
    if constant is not None:
        return context.constant(int(constant > 0))
    sign = sign_of(form)
    if sign is Sign.POSITIVE:
        return context.constant(1)
    if sign is Sign.NONNEGATIVE:
        return 1 - zero(form)
    if sign_of(-form) is not None:
        return context.constant(0)
    split = by_cases(form, positive)
    if split is not None:
        return split
    if form.single is not None:
        return _positive_term(context, *form.single)
    form = _as_compared(form)
    if form.constant is not None or form.single is not None:
        return positive(form)
    if form.terms[_greatest(form)] < 0:
        return 1 - context_atom(context, PositiveAtom, -form) - zero(form)
    return context_atom(context, PositiveAtom, form)


def _positive_term(context: Context, monomial: Monomial, c: Rational) -> Polynomial:
    """[c*a^2*b > 0] is [a != 0]*[b > 0], with the sign of c."""
    result, odd = context.constant(1), Factors()
    for atom, e in monomial:
        sign = sign_of_power(atom, e)
        if sign is Sign.NONNEGATIVE:
            result = result * (1 - zero(context.power_of(atom)))
        elif sign is None:
            odd[atom] = 1
    if not odd:
        return result if c > 0 else context.constant(0)
    rest = normalise(context, 1, odd)
    if rest.single is None or rest.single[1] != 1:
        return result * positive(rest.scaled(1 if c > 0 else -1))
    if c < 0:
        return result * (1 - context_atom(context, PositiveAtom, rest) - zero(rest))
    return result * context_atom(context, PositiveAtom, rest)


def zero(form: Polynomial) -> Polynomial:
    """[form = 0]."""
    context, constant = form.context, form.constant
    if constant is not None:
        return context.constant(int(constant == 0))
    if Sign.POSITIVE in (sign_of(form), sign_of(-form)):
        return context.constant(0)
    split = by_cases(form, zero)
    if split is not None:
        return split
    if form.single is not None:
        different = context.constant(1)  # a product is 0 where a factor is
        for atom, e in form.single[0]:
            if sign_of_power(atom, 1) is not Sign.POSITIVE and e > 0:
                base = atom.base if isinstance(atom, BaseAtom) else None
                own = context_atom(context, ZeroAtom, context.power_of(atom)) if base is None else zero(base)
                different = different * (1 - own)
        return 1 - different
    form = _as_compared(form)
    if form.constant is not None or form.single is not None:
        return zero(form)
    if form.terms[_greatest(form)] < 0:
        form = -form
    return context_atom(context, ZeroAtom, form)


def _greatest(form: Polynomial) -> Monomial:
    from shaped.spec.canonical.powers import greatest_monomial

    return greatest_monomial(form)


def _as_compared(form: Polynomial) -> Polynomial:
    """A simpler form of the same sign: without positive content, and `exp(u) > c` as `u > log(c)`."""
    from shaped.spec.canonical import functions, powers

    _, _, form = powers.content_of(form, only_positive=True)
    constant = form.terms.get((), 0)
    if len(form.terms) != 2 or not constant:
        return form
    ((monomial, c),) = ((m, c) for m, c in form.terms.items() if m)
    if c * constant > 0:
        return form
    context, bound = form.context, exact(Fraction(-constant) / c)
    if len(monomial) == 1 and monomial[0][1] != 1 and sign_of_power(monomial[0][0], 1) is not None:
        atom, e = monomial[0]  # c*a^e + constant, with a >= 0, has the sign of a - bound^(1/e), turned for e < 0
        simpler = context.power_of(atom) - powers.rational_power(context, bound, 1 / Fraction(e))
        return _primitive(simpler.scaled(1 if (c > 0) == (e > 0) else -1))
    if all(isinstance(atom, ExpAtom) for atom, _ in monomial):
        exponent = Polynomial(context, {})
        for atom, e in monomial:
            assert isinstance(atom, ExpAtom)
            exponent = exponent + Polynomial(context, {atom.argument: e})
        return _primitive((exponent - functions.log(context.constant(bound))).scaled(1 if c > 0 else -1))
    return form


def _primitive(form: Polynomial) -> Polynomial:
    from shaped.spec.canonical.powers import content_of

    return content_of(form, only_positive=True)[2] if form.terms else form


def by_cases(form: Polynomial, function: Callable[[Polynomial], Polynomial]) -> Polynomial | None:
    """f(B) = I*f(B where I holds) + (1 - I)*f(B elsewhere) for an indicator I of B; None if B has none.

    A case in which f is not defined counts 0: it is outside the domain.
    """
    found = [atom for monomial in form.terms for atom, _ in monomial if atom.is_indicator]
    if not found:
        return None
    condition = min(found, key=lambda atom: (atom.rank, atom.signature, atom.number))
    context = form.context
    holds, fails = where_holds(form, condition), where_fails(form, condition)
    indicator = Polynomial(context, {((condition, 1),): 1})
    results = []
    for case in (holds, fails):
        try:
            results.append(function(case))
        except (Undefined, ZeroDivisionError):
            results.append(context.constant(0))
    return indicator * results[0] + (1 - indicator) * results[1]


def where_fails(form: Polynomial, condition: Atom) -> Polynomial:
    """The form where the indicator is 0."""
    kept = {m: c for m, c in form.terms.items() if not any(atom is condition for atom, _ in m)}
    return Polynomial(form.context, kept)


def where_holds(form: Polynomial, condition: Atom) -> Polynomial:
    """The form where the indicator is 1, simplified by what it says."""
    product = form * Polynomial(form.context, {((condition, 1),): 1})
    terms: dict[Monomial, Rational] = {}
    for monomial, c in product.terms.items():
        without = tuple(factor for factor in monomial if factor[0] is not condition)
        accumulate(terms, Polynomial(form.context, {without: c}))
    return Polynomial(form.context, terms)
