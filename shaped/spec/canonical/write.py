"""A canonical form as an index expression, to print and to evaluate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from shaped.spec import expr
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
    InfinityAtom,
    Monomial,
    NumberAtom,
    PiAtom,
    PositiveAtom,
    PrimeAtom,
    ProductAtom,
    Rational,
    SumAtom,
    ZeroAtom,
)
from shaped.spec.dims import Dim
from shaped.spec.index import Index, Lookup, fresh_index
from shaped.spec.substitution import substitute

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Polynomial
    from shaped.spec.expr import Condition, Expr


def write(form: Polynomial) -> Expr:
    """The form as an expression: a sum of products, each under the conditions of its indicators."""
    terms = sorted((_term(monomial, c) for monomial, c in form.terms.items()), key=str)
    return expr.add(*terms)


def _term(monomial: Monomial, c: Rational) -> Expr:
    indicators = [atom for atom, _ in monomial if atom.is_indicator]
    conditions = [(_reading_order(atom), _condition(atom)) for atom in indicators]
    factors = [expr.power(_atom(atom), e) for atom, e in monomial if not atom.is_indicator]
    value = expr.multiply(expr.Constant(Fraction(c)), *sorted(factors, key=str))
    condition: Condition = expr.TRUE
    for _, each in sorted(conditions, key=str):
        condition = expr.both(condition, each)
    return expr.where(condition, value, 0)


def _reading_order(atom: Atom) -> int:
    """Conditions on indices come first, those that read integer tensors next: they say that the other places exist."""
    if not isinstance(atom, (IndexZeroAtom, IndexNonnegativeAtom)):
        return 2
    return int(any(isinstance(symbol, Lookup) for symbol in atom.dim.symbols()))


def _atom(atom: Atom) -> Expr:
    match atom:
        case NumberAtom(inner):
            return expr.real(Dim.atom(inner))
        case PrimeAtom(prime):
            return expr.real(prime)
        case PiAtom():
            return expr.PI
        case InfinityAtom():
            return expr.INFINITY
        case EntryAtom(variable, at):
            return variable[at]
        case ExpAtom(argument):
            return expr.apply("exp", _term(argument, 1))
        case FunctionAtom(function, argument):
            return expr.apply(function, write(argument))
        case CosineAtom(argument):
            return expr.apply("cos", write(argument))
        case BaseAtom(base):
            return write(base)
        case GreatestAtom(index, body):
            return expr.Greatest(*_bound(index, write(body)))
        case ProductAtom(index, body):
            return expr.Product(*_bound(index, write(body)))
        case SumAtom(indices, body):
            value = _term(body, 1)
            for index in reversed(indices):
                value = expr.Sum(*_bound(index, value))
            return value
    raise TypeError(type(atom).__name__)


def _bound(index: Index, body: Expr) -> tuple[Index, Expr]:
    name = fresh_index(index.size, index.name)
    return name, substitute(body, {index: name.dim})


def _condition(atom: Atom) -> Condition:
    match atom:
        case IndexZeroAtom(dim):
            return expr.index_zero(dim)
        case IndexNonnegativeAtom(dim):
            return expr.index_nonnegative(dim)
        case FlagAtom(variable, at):
            return expr.Flag(variable, at)
        case PositiveAtom(argument):
            return expr.positive(write(argument))
        case ZeroAtom(argument):
            return expr.zero(write(argument))
    raise TypeError(type(atom).__name__)
