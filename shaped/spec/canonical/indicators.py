"""Conditions as forms of value 0 or 1, and what they say to each other and to the factors beside them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from shaped.spec.atoms import Symbol
from shaped.spec.bounds import lower_bound, split_by
from shaped.spec.canonical.assumptions import Undefined
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    ExpAtom,
    FlagAtom,
    GreatestAtom,
    IndexNonnegativeAtom,
    IndexZeroAtom,
    InfinityAtom,
    Monomial,
    PositiveAtom,
    Rational,
    ZeroAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact
from shaped.spec.canonical.products import Factors, merged, normalise
from shaped.spec.canonical.ranges import (
    coefficient_of,
    is_index_free,
    is_negative,
    is_nonnegative,
    is_within,
    simplified,
)
from shaped.spec.canonical.search import any_atom
from shaped.spec.canonical.signs import Sign, sign_of, sign_of_power
from shaped.spec.dims import Dim, FloorDiv, Min
from shaped.spec.expr import Variable
from shaped.spec.index import Index, Lookup, free_indices
from shaped.spec.normal_form import common_monomial, divide, divide_monomial

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_SCALE = 16  # by which a condition is multiplied to compare it with another

# --- conditions on indices


def index_zero(context: Context, dim: Dim) -> Polynomial:
    """[dim = 0]: 0 or 1 where the ranges of the indices decide it; [i*t + j = 0] with |j| < t is [i = 0]*[j = 0]."""
    dim, known = _without_common_factor(simplified(dim)), context.known
    constant = dim.constant
    if constant is not None:
        return context.constant(int(constant == 0))
    if is_negative(dim, known) or is_negative(-dim, known):
        return context.constant(0)
    step = gcd(*(c for monomial, c in dim.terms if monomial))
    if dim.constant_part % step:
        return context.constant(0)
    if step > 1:
        dim = Dim({monomial: c // step for monomial, c in dim.terms})
    for stride in _strides(dim):
        whole, rest = divide(dim, stride)
        for quotient, remainder in ((whole, rest), (whole + 1, rest - stride)):
            if quotient.terms and remainder.terms and is_within(remainder + stride - 1, stride * 2 - 1, known):
                return index_zero(context, quotient) * index_zero(context, remainder)
    if dim.terms[0][1] < 0:
        dim = -dim
    return context_atom(context, IndexZeroAtom, dim)


def _strides(dim: Dim) -> list[Dim]:
    """Sizes by which the index expression may be divided: the factors beside its indices."""
    found: list[Dim] = []
    for monomial, c in dim.terms:
        if not any(isinstance(atom, (Index, Lookup)) for atom, _ in monomial):
            continue
        sizes = tuple(each for each in monomial if not isinstance(each[0], (Index, Lookup)))
        stride = Dim({sizes: abs(c)})
        if stride.constant != 1 and is_index_free(stride) and stride not in found:
            found.append(stride)
    return found


def index_nonnegative(context: Context, dim: Dim) -> Polynomial:
    """[dim >= 0]: 0 or 1 where the ranges of the indices decide it."""
    dim = _without_common_factor(simplified(dim))
    if is_nonnegative(dim, context.known):
        return context.constant(1)
    if is_negative(dim, context.known):
        return context.constant(0)
    if is_nonnegative(-dim, context.known):
        return index_zero(context, dim)
    for atom in dim.atoms():
        parts = split_by(dim, atom) if isinstance(atom, Min) else None
        if isinstance(atom, Min) and parts is not None and parts[0] == 1:  # min(a, b) + e >= 0 where both are
            both = context.constant(1)
            for choice in atom.choices:
                both = both * index_nonnegative(context, choice + parts[1])
            return both
    if dim.constant_part < 0 and _is_difference(dim):
        return 1 - index_nonnegative(context, -dim - 1)  # i > j as not j >= i: one form for both sides of a mask
    step = gcd(*(c for monomial, c in dim.terms if monomial))
    if step > 1:
        dim = Dim({monomial: c // step for monomial, c in dim.terms})  # 2*i + 1 >= 0 is i >= 0: floor(1/2) is left
    return context_atom(context, IndexNonnegativeAtom, dim)


def _is_difference(dim: Dim) -> bool:
    """Whether it is i - j + c, for two indices."""
    found = [c for monomial, c in dim.terms if len(monomial) == 1 and isinstance(monomial[0][0], Index)]
    return sorted(found) == [-1, 1] and len(dim.terms) == 2 + bool(dim.constant_part)


def _without_common_factor(dim: Dim) -> Dim:
    """The index expression without sizes that all its terms share and that are at least 1."""
    if dim.constant is not None:
        return dim
    shared = tuple(
        (atom, power)
        for atom, power in common_monomial(dim)
        if not isinstance(atom, (Index, Lookup)) and (lower_bound(Dim.atom(atom)) or 0) >= 1
    )
    if not shared:
        return dim
    parts = ((divide_monomial(monomial, shared), c) for monomial, c in dim.terms)
    return Dim({monomial: c for monomial, c in parts if monomial is not None})


def context_atom(context: Context, kind: type[Atom], *fields: object) -> Polynomial:
    """An indicator atom as a form, without further rules."""
    return Polynomial(context, {((context.atom(kind, *fields), 1),): 1})


def flag(context: Context, variable: Variable, at: tuple[Dim, ...]) -> Polynomial:
    """An entry of a bool tensor."""
    return context_atom(context, FlagAtom, variable, tuple(simplified(dim) for dim in at))


# --- conditions on numbers


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
    from shaped.spec.canonical import powers

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
        return _primitive((exponent - powers.log(context.constant(bound))).scaled(1 if c > 0 else -1))
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


# --- what indicators do in a product


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
