"""Derivatives of canonical forms by an entry of a tensor, and adjoints.

Conditions count as constants: that is right off the sets where they change, and is what reverse-mode programs compute.
Where several values are greatest, the gradient is split evenly, as by `torch.amax`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec.canonical import functions, index_conditions, indicators, powers, prefix_products, sums
from shaped.spec.canonical.assumptions import Undecided
from shaped.spec.canonical.atoms import (
    Atom,
    BaseAtom,
    CosineAtom,
    EntryAtom,
    ExpAtom,
    FunctionAtom,
    GreatestAtom,
    Monomial,
    PiAtom,
    ProductAtom,
    Rational,
    SumAtom,
)
from shaped.spec.canonical.polynomials import Context, Polynomial, accumulate, exact, unused_index
from shaped.spec.canonical.products import merged, normalise, product_of
from shaped.spec.canonical.read import read
from shaped.spec.canonical.substitution import opened_sum, renamed
from shaped.spec.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.dims import Dim
    from shaped.spec.expr import Variable


def derivative(form: Polynomial, variable: Variable, at: tuple[Dim, ...]) -> Polynomial:
    """The derivative of a form by the entry `at` of a variable, also through the definitions of other variables."""
    if variable.name not in form.variables:
        return form.context.constant(0)
    context = form.context
    terms: dict[Monomial, Rational] = {}
    for monomial, c in form.terms.items():
        for atom, e in monomial:
            if variable.name in atom.variables and not atom.is_indicator:
                outer = normalise(context, exact(c * e), merged(monomial, [(atom, -1)]))
                accumulate(terms, outer * _of_atom(context, atom, variable, at))
    return Polynomial(context, terms)


def _of_atom(context: Context, atom: Atom, variable: Variable, at: tuple[Dim, ...]) -> Polynomial:
    own = context.power_of(atom)
    match atom:
        case EntryAtom(tensor, places):
            if tensor.name == variable.name:
                matches = (index_conditions.index_zero(context, a - b) for a, b in zip(places, at, strict=True))
                return product_of(context, matches)
            assert tensor.definition is not None
            indices, definition = tensor.definition
            values = dict(zip(indices, places, strict=True))
            return derivative(renamed(read(context, definition), values), variable, at)
        case ExpAtom(argument):
            return own * derivative(Polynomial(context, {argument: 1}), variable, at)
        case FunctionAtom(function, argument):
            inner = derivative(argument, variable, at)
            return _of_function(context, function, argument, own) * inner if inner.terms else inner
        case CosineAtom(argument):
            return -functions.sine(argument) * derivative(argument, variable, at)
        case BaseAtom(base):
            return derivative(base, variable, at)
        case SumAtom():
            opened, body = opened_sum(atom, _indices(at))
            return sums.sum_over(opened, derivative(body, variable, at))
        case GreatestAtom(index, body):
            return _of_greatest(own, index, body, variable, at)
        case ProductAtom(index, body):
            return _of_product(index, body, atom.free, variable, at)
    raise TypeError(type(atom).__name__)


def _of_function(context: Context, function: str, argument: Polynomial, own: Polynomial) -> Polynomial:
    """The derivative of an elementary function."""
    square = argument * argument
    two_over_root_pi = context.power_of(context.atom(PiAtom), Fraction(-1, 2)).scaled(2)
    match function:
        case "log":
            return powers.power(argument, -1)
        case "sin":
            return functions.cosine(argument)
        case "atan":
            return powers.power(1 + square, -1)
        case "asin":
            return powers.power(1 - square, Fraction(-1, 2))
        case "asinh":
            return powers.power(1 + square, Fraction(-1, 2))
        case "acosh":
            return powers.power(square - 1, Fraction(-1, 2))
        case "atanh":
            return powers.power(1 - square, -1)
        case "erf":
            return functions.exp(-square) * two_over_root_pi
        case "erfinv":
            half_root_pi = context.power_of(context.atom(PiAtom), Fraction(1, 2)).scaled(Fraction(1, 2))
            return functions.exp(own * own) * half_root_pi
        case "lgamma":
            return functions.apply("digamma", argument)
        case "floor" | "round":
            return context.constant(0)
    raise Undecided(f"the derivative of {function} is not followed")


def _of_greatest(
    own: Polynomial, index: Index, body: Polynomial, variable: Variable, at: tuple[Dim, ...]
) -> Polynomial:
    place = unused_index(index.size, own.free | _indices(at))
    value = renamed(body, {index: place.dim})
    is_greatest = indicators.zero(value - own)
    count = sums.sum_over((place,), is_greatest)
    return sums.sum_over((place,), is_greatest * derivative(value, variable, at)) * powers.power(count, -1)


def _of_product(
    index: Index, body: Polynomial, free: frozenset[Index], variable: Variable, at: tuple[Dim, ...]
) -> Polynomial:
    context = body.context
    place = unused_index(index.size, free | _indices(at))
    other = unused_index(index.size, free | _indices(at) | {place})
    same = index_conditions.index_zero(context, other.dim - place.dim)
    others = prefix_products.product_over(other, same + (1 - same) * renamed(body, {index: other.dim}))
    return sums.sum_over((place,), derivative(renamed(body, {index: place.dim}), variable, at) * others)


def _indices(at: Sequence[Dim]) -> frozenset[Index]:
    return frozenset(symbol for dim in at for symbol in dim.symbols() if isinstance(symbol, Index))
