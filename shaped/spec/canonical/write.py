"""A canonical form as an index expression, to print and to evaluate."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from shaped.spec.canonical.indicators import where_fails, where_holds
from shaped.spec.canonical.ranges import Known, is_nonnegative
from shaped.spec.canonical.search import atoms_within, dims_of
from shaped.spec.dims import Dim
from shaped.spec.index import Index, Lookup, fresh_index
from shaped.spec.substitution import substitute

if TYPE_CHECKING:
    from shaped.spec.canonical.polynomials import Polynomial
    from shaped.spec.dims import Symbol
    from shaped.spec.expr import Condition, Expr


_NAMES = [*"ijklpqrstuvw", *(f"i{number}" for number in range(1, 100))]


def write(form: Polynomial) -> Expr:
    """The form as an expression: a sum of products, each under the conditions of its indicators.

    An entry that a rule has parted from the condition that it exists counts 0 where it does not: its coefficients add
    up to 0 there.
    """
    names = {index.name for index in form.free}
    for atom in atoms_within(form):
        names |= {symbol.name for dim in dims_of(atom) for symbol in dim.symbols() if not isinstance(symbol, Index)}
        names |= {symbol.name for index in atom.parts if isinstance(index, Index) for symbol in index.size.symbols()}
    return _Writer(frozenset(names)).polynomial(form)


@dataclass(frozen=True)
class _Writer:
    """Writes what stands under some conditions, with names for bound indices that are not in use."""

    names: frozenset[str]
    guards: tuple[Atom, ...] = ()

    def polynomial(self, form: Polynomial) -> Expr:
        infinite = [m for m in form.terms if any(isinstance(atom, InfinityAtom) for atom, _ in m)]
        mask = next((atom for m in infinite for atom, _ in m if atom.is_indicator), None)
        if mask is not None:  # infinities that cancel in one case are written case by case
            inside = replace(self, guards=(*self.guards, mask))
            holds, fails = where_holds(form, mask), where_fails(form, mask)
            return expr.where(self.condition(mask), inside.polynomial(holds), self.polynomial(fails))
        terms = sorted((self.term(monomial, c) for monomial, c in form.terms.items()), key=str)
        return expr.add(*terms)

    def term(self, monomial: Monomial, c: Rational) -> Expr:
        indicators = sorted((atom for atom, _ in monomial if atom.is_indicator), key=_reading_order)
        inside = replace(self, guards=(*self.guards, *indicators))
        conditions = [(_reading_order(atom), inside.condition(atom)) for atom in indicators]
        factors = [inside.factor(atom, e) for atom, e in monomial if not atom.is_indicator]
        value = expr.multiply(expr.Constant(Fraction(c)), *sorted(factors, key=str))
        condition: Condition = expr.TRUE
        for _, each in sorted(conditions, key=str):
            condition = expr.both(condition, each)
        return expr.where(condition, value, 0)

    def factor(self, atom: Atom, exponent: Rational) -> Expr:
        if isinstance(atom, EntryAtom):
            power = expr.power(atom.variable[atom.at], exponent)
            return expr.where(self._exists(atom), power, 0)
        return expr.power(self.atom(atom), exponent)

    def atom(self, atom: Atom) -> Expr:
        match atom:
            case NumberAtom(number):
                return expr.real(Dim.atom(number))
            case PrimeAtom(prime):
                return expr.real(prime)
            case PiAtom():
                return expr.PI
            case InfinityAtom():
                return expr.INFINITY
            case ExpAtom(argument):
                return expr.apply("exp", self.term(argument, 1))
            case FunctionAtom(function, argument):
                return expr.apply(function, self.polynomial(argument))
            case CosineAtom(argument):
                return expr.apply("cos", self.polynomial(argument))
            case BaseAtom(base):
                return self.polynomial(base)
            case GreatestAtom(index, body):
                names, inner = self._named((index,))
                return expr.Greatest(names[0], substitute(inner.polynomial(body), {index: names[0].dim}))
            case ProductAtom(index, body):
                names, inner = self._named((index,))
                return expr.Product(names[0], substitute(inner.polynomial(body), {index: names[0].dim}))
            case SumAtom(indices, body):
                names, inner = self._named(indices)
                values: dict[Symbol, Dim] = {index: name.dim for index, name in zip(indices, names, strict=True)}
                value = substitute(inner.term(body, 1), values)
                for name in reversed(names):
                    value = expr.Sum(name, value)
                return value
        raise TypeError(type(atom).__name__)

    def _named(self, indices: tuple[Index, ...]) -> tuple[list[Index], _Writer]:
        free = (name for name in _NAMES if name not in self.names)
        names = [fresh_index(index.size, name) for index, name in zip(indices, free)]
        return names, replace(self, names=self.names | {name.name for name in names})

    def _exists(self, atom: EntryAtom) -> Condition:
        """The condition that an entry exists, as far as its ranges and the guards do not say it."""
        exists: Condition = expr.TRUE
        for place, size in zip(atom.at, atom.variable.sizes, strict=True):
            for dim in (place, size - 1 - place):
                if not self._is_certain(dim, atom.context.known):
                    exists = expr.both(exists, expr.index_nonnegative(dim))
        return exists

    def _is_certain(self, dim: Dim, known: Known) -> bool:
        if is_nonnegative(dim, known):
            return True
        for guard in self.guards:
            if isinstance(guard, IndexNonnegativeAtom) and is_nonnegative(dim - guard.dim, known):
                return True
            if isinstance(guard, IndexZeroAtom) and any(
                is_nonnegative(dim + guard.dim * sign, known) for sign in (1, -1)
            ):
                return True
        return False

    def condition(self, atom: Atom) -> Condition:
        match atom:
            case IndexZeroAtom(dim):
                return expr.index_zero(dim)
            case IndexNonnegativeAtom(dim):
                return expr.index_nonnegative(dim)
            case FlagAtom(variable, at):
                return expr.Flag(variable, at)
            case PositiveAtom(argument):
                return expr.positive(self.polynomial(argument))
            case ZeroAtom(argument):
                return expr.zero(self.polynomial(argument))
        raise TypeError(type(atom).__name__)


def _reading_order(atom: Atom) -> int:
    """Conditions on indices come first, those that read integer tensors next: they say that the other places exist."""
    if not isinstance(atom, (IndexZeroAtom, IndexNonnegativeAtom)):
        return 2
    return int(any(isinstance(symbol, Lookup) for symbol in atom.dim.symbols()))
