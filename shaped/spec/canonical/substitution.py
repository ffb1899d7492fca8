"""Replacing free indices in canonical forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.canonical import functions, index_conditions, indicators, powers
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
    ProductAtom,
    Rational,
    SumAtom,
    ZeroAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, total_of, unused_index
from shaped.spec.canonical.products import Factors, normalise, product_of
from shaped.spec.canonical.ranges import simplified
from shaped.spec.dims import Dim
from shaped.spec.index import Index, free_indices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shaped.spec.expr import Variable

Values = dict[Index, Dim]


def renamed(form: Polynomial, values: Mapping[Index, Dim]) -> Polynomial:
    """The form with free indices replaced by index expressions."""
    relevant = {index: value for index, value in values.items() if index in form.free}
    if not relevant:
        return form
    terms: dict[Monomial, Rational] = {}
    for monomial, c in form.terms.items():
        accumulate(terms, monomial_with(form.context, monomial, c, relevant))
    return Polynomial(form.context, terms)


def monomial_with(
    context: Context, monomial: Iterable[tuple[Atom, Rational]], c: Rational, values: Mapping[Index, Dim]
) -> Polynomial:
    """A term with free indices replaced."""
    kept, replaced = Factors(), list[Polynomial]()
    for atom, e in monomial:
        if atom.free.isdisjoint(values):
            kept[atom] = e
        else:
            replaced.append(power_with(atom, e, values))
    if not replaced:
        return normalise(context, c, kept)
    singles = [part.single for part in replaced]
    if all(single is not None for single in singles):  # the usual case: one product is brought to normal form
        for single in singles:
            assert single is not None
            c = c * single[1]
            for atom, e in single[0]:
                kept[atom] = kept.get(atom, 0) + e
        return normalise(context, c, {atom: e for atom, e in kept.items() if e})
    return product_of(context, [normalise(context, c, kept), *replaced])


def power_with(atom: Atom, exponent: Rational, values: Mapping[Index, Dim]) -> Polynomial:
    """A power of an atom with free indices replaced."""
    relevant = {index: value for index, value in values.items() if index in atom.free}
    context = atom.context
    key = (atom, exponent, frozenset(relevant.items()))
    result = context.substituted.get(key)
    if result is None:
        result = context.substituted[key] = _power_with(context, atom, exponent, relevant)
    return result


def _power_with(context: Context, atom: Atom, exponent: Rational, values: Values) -> Polynomial:
    match atom:
        case EntryAtom(variable, at):
            return entry(context, variable, _dims_with(at, values), exponent)
        case BaseAtom(base):
            return powers.power(renamed(base, values), exponent)
        case ExpAtom(argument):
            return functions.exp(monomial_with(context, argument, exponent, values))
        case _:
            return powers.power(_with(context, atom, values), exponent)


def _with(context: Context, atom: Atom, values: Values) -> Polynomial:
    from shaped.spec.canonical import extrema, prefix_products, sums

    match atom:
        case FunctionAtom(function, argument):
            return functions.apply(function, renamed(argument, values))
        case CosineAtom(argument):
            return functions.cosine(renamed(argument, values))
        case PositiveAtom(argument):
            return indicators.positive(renamed(argument, values))
        case ZeroAtom(argument):
            return indicators.zero(renamed(argument, values))
        case IndexZeroAtom(dim):
            return index_conditions.index_zero(context, _dim_with(dim, values))
        case IndexNonnegativeAtom(dim):
            return index_conditions.index_nonnegative(context, _dim_with(dim, values))
        case FlagAtom(variable, at):
            return index_conditions.flag(context, variable, _dims_with(at, values))
        case NumberAtom(inner):
            return number(context, _dim_with(Dim.atom(inner), values))
        case SumAtom():
            indices, body = opened_sum(atom, _indices_of(values.values()))
            return sums.sum_over(indices, renamed(body, values))
        case GreatestAtom(index, body):
            place = unused_index(index.size, atom.free | _indices_of(values.values()))
            return extrema.greatest(place, renamed(renamed(body, {index: place.dim}), values))
        case ProductAtom(index, body):
            place = unused_index(index.size, atom.free | _indices_of(values.values()))
            return prefix_products.product_over(place, renamed(renamed(body, {index: place.dim}), values))
    raise TypeError(type(atom).__name__)


def opened_sum(atom: SumAtom, used: Iterable[Index]) -> tuple[tuple[Index, ...], Polynomial]:
    """Indices that are not in use, and the body of the sum with these."""
    taken, indices = set(used) | atom.free, list[Index]()
    for index in atom.indices:
        indices.append(unused_index(index.size, taken))
        taken.add(indices[-1])
    values = {bound: index.dim for bound, index in zip(atom.indices, indices, strict=True)}
    return tuple(indices), monomial_with(atom.context, atom.body, 1, values)


def _indices_of(dims: Iterable[Dim]) -> frozenset[Index]:
    return frozenset[Index]().union(*(free_indices(dim) for dim in dims))


def _dims_with(dims: tuple[Dim, ...], values: Values) -> tuple[Dim, ...]:
    return tuple(_dim_with(dim, values) for dim in dims)


def _dim_with(dim: Dim, values: Values) -> Dim:
    return dim.substitute({symbol: values[symbol] for symbol in free_indices(dim) if symbol in values})


def entry(context: Context, variable: Variable, at: tuple[Dim, ...], exponent: Rational = 1) -> Polynomial:
    """A power of an entry of a float tensor."""
    atom = context.atom(EntryAtom, variable, tuple(simplified(dim) for dim in at))
    return Polynomial(context, {((atom, exponent),): 1})


def number(context: Context, dim: Dim) -> Polynomial:
    """An index expression as a form."""
    return total_of(
        context,
        (
            normalise(context, c, {context.atom(NumberAtom, atom): power for atom, power in monomial})
            for monomial, c in simplified(dim).terms
        ),
    )
