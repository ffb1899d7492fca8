"""Products over an index: exact for all real factors, zeros included.

Products over one range that stand side by side are one product. The derivative by one factor is a product over the
others, in which the factor itself counts 1: [l = k] + (1 - [l = k])*f(l).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.canonical.atoms import EntryAtom, IndexZeroAtom, ProductAtom, Rational
from shaped.spec.canonical.indicators import where_fails, where_holds
from shaped.spec.canonical.polynomials import Context, Polynomial, bound_index, unused_index
from shaped.spec.canonical.prefixes import with_prefixes
from shaped.spec.canonical.products import Factors, merged, normalise
from shaped.spec.canonical.ranges import coefficient_of, is_index_free, is_negative, is_nonnegative, is_within
from shaped.spec.canonical.substitution import renamed
from shaped.spec.dims import Dim

if TYPE_CHECKING:
    from shaped.spec.canonical.atoms import Atom
    from shaped.spec.index import Index

MOST_UNROLLED = 8  # a product over a constant size up to this is written out
MOST_TERMS = 12  # of one factor


def product_over(index: Index, form: Polynomial) -> Polynomial:
    """The product of a form over an index."""
    from shaped.spec.canonical import functions, sums

    context = form.context
    size = index.size.constant
    if size is not None and size <= MOST_UNROLLED:
        result = context.constant(1)
        for value in range(size):
            result = result * renamed(form, {index: Dim.of(value)})
        return result
    if form.constant == 1 or (not form.terms and is_nonnegative(index.size - 1, context.known)):
        return form
    anchored = _anchored(index, form)
    if anchored is not None:
        return anchored
    form = with_prefixes(form, index)
    exponentials = _exponentials(form)
    if exponentials is not None:
        exponent, rest = exponentials
        return functions.exp(sums.sum_over((index,), exponent)) * product_over(index, rest)
    name = bound_index(1 + form.height, index.size)
    atom = context.atom(ProductAtom, name, renamed(form, {index: name.dim}))
    return Polynomial(context, {((atom, 1),): 1})


def _anchored(index: Index, form: Polynomial) -> Polynomial | None:
    """The product over the places of the entry that moves with the index, where all other places count 1."""
    from shaped.spec.canonical import labels, sums
    from shaped.spec.canonical.index_conditions import index_nonnegative

    context = form.context
    atoms: Factors = {atom: 1 for monomial in form.terms for atom, _ in monomial}
    anchor = labels.anchor_of(index, atoms)
    if anchor is None:
        return None
    place, size = anchor
    if (place == index.dim and index.size == size) or not is_index_free(size):
        return None
    # Where the place is not on the axis, terms with the entry do not count.
    outside = index_nonnegative(context, -place - 1) + index_nonnegative(context, place - size)
    entry_free = {m: c for m, c in form.terms.items() if not any(_reads(atom, place) for atom, _ in m)}
    if (outside * (Polynomial(context, entry_free) - 1)).terms:
        return None
    sign = coefficient_of(place, index)
    assert sign is not None
    new = unused_index(size, form.free)
    value = (new.dim - (place - index.dim * sign)) * sign
    inside = sums.within(context, value, index.size)
    return product_over(new, 1 + inside * (renamed(form, {index: value}) - 1))


def _reads(atom: Atom, place: Dim) -> bool:
    """Whether the atom is an entry at the place, or at one that is on no axis."""
    if not isinstance(atom, EntryAtom):
        return False
    known = atom.context.known
    sizes = zip(atom.at, atom.variable.sizes, strict=True)
    return place in atom.at or any(is_negative(at, known) or is_negative(size - 1 - at, known) for at, size in sizes)


def _exponentials(form: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """The exponent and the other factors of a single term with exponentials."""
    from shaped.spec.canonical.atoms import ExpAtom

    single = form.single
    if single is None or not any(isinstance(atom, ExpAtom) for atom, _ in single[0]):
        return None
    exponent, others = Polynomial(form.context, {}), Factors()
    for atom, e in single[0]:
        if isinstance(atom, ExpAtom):
            exponent = exponent + Polynomial(form.context, {atom.argument: e})
        else:
            others[atom] = e
    return exponent, normalise(form.context, single[1], others)


def reduced(
    context: Context, coefficient: Rational, factors: Factors, products: list[ProductAtom]
) -> Polynomial | None:
    """Products over equal ranges as one, and factors that complete a product over the others; None if neither is."""
    whole = [atom for atom in products if isinstance(e := factors[atom], int) and e > 0]
    for i, atom in enumerate(whole):
        same = [other for other in whole[i:] if other.index.size == atom.index.size]
        if len(same) > 1 or factors[atom] != 1:
            joined = _joined(context, same, factors)
            if joined is not None:
                rest = normalise(context, coefficient, merged(factors, [(each, -factors[each]) for each in same]))
                return rest * joined
    for atom in whole:
        if factors[atom] == 1:
            completed = _completed(context, coefficient, factors, atom)
            if completed is not None:
                return completed
    return None


def _joined(context: Context, same: list[ProductAtom], factors: Factors) -> Polynomial | None:
    """One product for several over the same range, None if its factors would have too many terms."""
    place = unused_index(same[0].index.size, {index for each in same for index in each.free})
    body = context.constant(1)
    for each in same:
        for _ in range(int(factors[each])):
            body = body * renamed(each.body, {each.index: place.dim})
            if len(body.terms) > MOST_TERMS:
                return None
    return product_over(place, body)


def _completed(context: Context, coefficient: Rational, factors: Factors, atom: ProductAtom) -> Polynomial | None:
    """f(k) times the product over l of [l = k]*1 + (1 - [l = k])*f(l) is the product of all f(l)."""
    from shaped.spec.canonical.powers import greatest_monomial

    conditions = {a: None for monomial in atom.body.terms for a, _ in monomial if isinstance(a, IndexZeroAtom)}
    for condition in conditions:
        sign = coefficient_of(condition.dim, atom.index)
        if sign not in (1, -1):
            continue
        here = atom.index.dim - condition.dim * sign
        if where_holds(atom.body, condition).constant != 1 or not is_within(here, atom.index.size, context.known):
            continue
        others = where_fails(atom.body, condition)
        factor = renamed(others, {atom.index: here})
        for beside in [a for a, e in factors.items() if e and a.is_indicator]:
            factor = where_holds(factor, beside)
        if not factor.terms:
            continue
        lead = greatest_monomial(factor)
        if not lead or not all(factors.get(a, 0) >= e > 0 for a, e in lead):
            continue
        place = unused_index(atom.index.size, atom.free)
        without = merged(factors, [(a, -e) for a, e in lead])
        all_factors = product_over(place, renamed(others, {atom.index: place.dim}))
        complete = normalise(context, coefficient, merged(without, [(atom, -1)])) * all_factors
        rest = Polynomial(context, {m: c for m, c in factor.terms.items() if m != lead})
        incomplete = rest * normalise(context, coefficient, without)
        return (complete - incomplete).scaled(Fraction(1) / factor.terms[lead])
    return None
