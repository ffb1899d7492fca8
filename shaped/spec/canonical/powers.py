"""Powers of canonical forms.

A power of several terms that is not a positive whole number is one atom, u = B^e, after the content of B is taken out.
Products in which the leading monomial of B meets u are rewritten by LM(B)*u = (B^(e+1) - rest*u)/LC, so that equal
rational functions meet (Knuth and Bendix's completion of u*B = B^(e+1), without critical pairs between bases).
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

from shaped.spec.canonical.assumptions import Undecided, Undefined
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    Monomial,
    PrimeAtom,
    Rational,
)
from shaped.spec.canonical.indicators import by_cases
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact
from shaped.spec.canonical.products import Factors, merged, normalise
from shaped.spec.canonical.signs import Sign, sign_of, sign_of_power

if TYPE_CHECKING:
    pass

LARGEST_PRIME = 100_000  # factors beyond are taken for prime, which is right or misses an identity
MOST_EXPANDED = 12  # the largest whole power of several terms that is expanded


def power(base: Polynomial, exponent: Rational) -> Polynomial:
    """The power of a form; the base is not negative where the exponent is no integer, not 0 where it is negative.

    Raises:
        Undefined: the base is 0 and the exponent negative, or the base is a negative constant under a root.
    """
    context, exponent = base.context, exact(exponent)
    if exponent == 0:
        return context.constant(1)
    if exponent == 1:
        return base
    if not base.terms:
        if exponent > 0:
            return base
        raise Undefined("a division by 0")
    single = base.single
    if isinstance(exponent, int) and exponent > 0 and single is None:
        return _expanded(base, exponent)
    if not (isinstance(exponent, int) and exponent > 0):
        split = by_cases(base, lambda case: power(case, exponent))
        if split is not None:
            return split
    if single is not None:
        if isinstance(exponent, int):
            monomial, c = single
            scaled = {atom: exact(e * exponent) for atom, e in monomial}
            return normalise(context, exact(Fraction(c) ** exponent), scaled)
        return _root_of_term(context, *single, exponent)
    content, factors, primitive = content_of(base, only_positive=not isinstance(exponent, int))
    outside = rational_power(context, content, exponent)
    if factors:
        outside = outside * normalise(context, 1, {atom: exact(e * exponent) for atom, e in factors.items()})
    if primitive.single is not None:
        return outside * power(primitive, exponent)
    if isinstance(exponent, int) and primitive.terms[greatest_monomial(primitive)] < 0:
        primitive = -primitive
        outside = outside.scaled(-1 if exponent % 2 else 1)
    return outside * context.power_of(context.atom(BaseAtom, primitive), exponent)


def _expanded(base: Polynomial, exponent: int) -> Polynomial:
    if exponent > MOST_EXPANDED:
        raise Undecided(f"a power {exponent} of several terms")
    half = power(base, exponent // 2)
    square = half * half
    return square * base if exponent % 2 else square


def _root_of_term(context: Context, monomial: Monomial, c: Rational, exponent: Rational) -> Polynomial:
    """A power, no integer, of one term: sqrt(x^2*y) is |x|*sqrt(y), where x is not known to be positive."""
    result, taken, left = context.constant(1), Factors(), Factors()
    for atom, e in monomial:
        if sign_of_power(atom, 1) is not None or (sign_of_power(atom, e) is not None and not _is_even(e)):
            taken[atom] = exact(e * exponent)
        elif _is_even(e):
            from shaped.spec.canonical.functions import absolute

            result = result * power(absolute(context.power_of(atom)), exact(e * exponent))
        else:
            left[atom] = e
    result = result * rational_power(context, c if c > 0 else -c, exponent) * normalise(context, 1, taken)
    if not left:
        if c < 0:
            raise Undefined("a root of a negative number")
        return result
    if c > 0 and len(left) == 1:
        ((atom, e),) = left.items()
        if e == 1 and atom.is_plain:
            return result * context.power_of(atom, exponent)
    base = normalise(context, 1 if c > 0 else -1, left)
    return result * context.power_of(context.atom(BaseAtom, base), exponent)


def _is_even(exponent: Rational) -> bool:
    return isinstance(exponent, int) and exponent % 2 == 0


def rational_power(context: Context, number: Rational, exponent: Rational) -> Polynomial:
    """A power of a positive rational number, by its primes."""
    if isinstance(exponent, int):
        return context.constant(Fraction(number) ** exponent)
    return normalise(
        context, 1, {context.atom(PrimeAtom, p): exact(k * exponent) for p, k in prime_powers(number).items()}
    )


def prime_powers(number: Rational) -> dict[int, int]:
    """The primes of a positive rational number with their exponents."""
    found: dict[int, int] = {}
    number = Fraction(number)
    for part, sign in ((number.numerator, 1), (number.denominator, -1)):
        prime = 2
        while prime * prime <= part and prime < LARGEST_PRIME:
            while part % prime == 0:
                found[prime] = found.get(prime, 0) + sign
                part //= prime
            prime += 1
        if part > 1:
            found[part] = found.get(part, 0) + sign
    return found


# --- the content of a base


def content_of(form: Polynomial, *, only_positive: bool) -> tuple[Rational, Factors, Polynomial]:
    """A positive number, powers of atoms that all terms share, and the rest: `form` is their product.

    Args:
        form: a form that is not 0.
        only_positive: take out only atoms that are certainly positive, as a root of the product needs.
    """
    numerator, denominator = 0, 1
    for c in form.terms.values():
        numerator, denominator = gcd(numerator, Fraction(c).numerator), lcm(denominator, Fraction(c).denominator)
    number = exact(Fraction(numerator, denominator))
    least: dict[Atom, list[Rational]] = {}
    for monomial in form.terms:
        for atom, e in monomial:
            least.setdefault(atom, []).append(e)
    shared = Factors()
    for atom, exponents in least.items():
        lowest = min(exponents) if len(exponents) == len(form.terms) else min(0, *exponents)
        if lowest and not atom.is_indicator and _may_be_taken_out(atom, lowest, only_positive=only_positive):
            shared[atom] = lowest
    if not shared:
        return number, shared, form.scaled(Fraction(1) / number)
    inverse = [(atom, -e) for atom, e in shared.items()]
    terms: dict[Monomial, Rational] = {}
    for monomial, c in form.terms.items():
        accumulate(terms, normalise(form.context, exact(Fraction(c) / number), merged(monomial, inverse)))
    return number, shared, Polynomial(form.context, terms)


def _may_be_taken_out(atom: Atom, exponent: Rational, *, only_positive: bool) -> bool:
    if isinstance(atom, BaseAtom):
        # A positive root of a base stays inside: taken out and expanded it would come back.
        return exponent < 0 and (not only_positive or sign_of(atom.base) is Sign.POSITIVE)
    return not only_positive or sign_of_power(atom, 1) is Sign.POSITIVE


# --- the order of monomials and the rewriting of bases


def order_of(monomial: Monomial) -> tuple[tuple[int, int, int, Rational], ...]:
    """Where a monomial stands in the lexicographic order by atoms, the greatest atom first.

    As far as it can, the order rests on what no replacement of indices changes, so that leading terms stay leading.
    """
    return tuple(sorted(((atom.rank, atom.shape, atom.signature, e) for atom, e in monomial), reverse=True))


def greatest_monomial(form: Polynomial) -> Monomial:
    """The monomial that decides the sign of a form up to a factor."""
    return max(form.terms, key=lambda m: (order_of(m), tuple((atom.number, e) for atom, e in m)))


class Lead:
    """The leading term of a base and the rest, and the constant term where all others share an atom."""

    def __init__(self, base: Polynomial) -> None:
        ordered = sorted(base.terms, key=order_of)
        self.monomial: Monomial | None = ordered[-1]
        if order_of(ordered[-1]) == order_of(ordered[-2]) or any(e < 0 for _, e in ordered[-1]):
            self.monomial = None  # no leading term that is the same whatever its indices are called
            return
        self.coefficient = base.terms[ordered[-1]]
        self.rest = Polynomial(base.context, {m: c for m, c in base.terms.items() if m != ordered[-1]})
        self.constant = base.terms.get(())
        self.others = Polynomial(base.context, {m: c for m, c in base.terms.items() if m})
        self.shared = set[Atom]()
        if self.constant is not None:
            self.shared = set.intersection(*({a for a, e in m if e > 0} for m in base.terms if m))


def lead_of(atom: BaseAtom) -> Lead | None:
    """The leading term of the base, None for a base of one term."""
    if len(atom.base.terms) < 2:
        return None
    leads = atom.base.context.leads
    lead = leads.get(atom)
    if lead is None:
        lead = leads[atom] = Lead(atom.base)
    return lead if lead.monomial is not None else None


def with_lead_replaced(context: Context, coefficient: Rational, factors: Factors, atom: BaseAtom) -> Polynomial | None:
    """The product with a power B^e, e < 0, where the leading monomial of B divides the rest; None if it does not.

    A negative power of an atom that all terms of B but the constant one share is rewritten by the constant term.
    """
    lead = lead_of(atom)
    if lead is None or lead.monomial is None:
        return None
    if all(factors.get(a, 0) >= e for a, e in lead.monomial):
        without = merged(factors, [(a, -e) for a, e in lead.monomial])
        raised = normalise(context, coefficient, merged(without, [(atom, 1)]))
        return (raised - lead.rest * normalise(context, coefficient, without)).scaled(Fraction(1) / lead.coefficient)
    if any(factors.get(a, 0) < 0 for a in lead.shared):
        terms = dict(normalise(context, coefficient, merged(factors, [(atom, 1)])).terms)
        for monomial, c in lead.others.terms.items():
            accumulate(terms, normalise(context, exact(-coefficient * c), merged(factors, monomial)))
        assert lead.constant is not None
        return Polynomial(context, terms).scaled(Fraction(1) / lead.constant)
    return None
