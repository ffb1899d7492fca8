"""Facts put to use: sizes are read in terms of free names, decided where facts decide them, and written back.

A named size with a value is replaced by it. When `d % h == 0` is known, `d` is read as `h*q` for a new name `q`, so
that the normal form sees every consequence at once; written back, `h*q` is `d` and `q` is `d//h`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from shaped.spec.bounds import is_nonnegative, is_positive, least_value, lower_bound_where, split_by
from shaped.spec.dims import ZERO, Atom, Dim, FloorDiv, Kind, Min, Monomial, Symbol, minimum
from shaped.spec.normal_form import divide_monomial
from shaped.spec.solve import is_refuted_by_divisor, primitive, without_nonzero_factors
from shaped.spec.verdict import Verdict

MOST_STEPS = 20  # applications of one rule to one size
MOST_CHOICES = 6  # of a minimum that is decided by bounds


@dataclass(frozen=True)
class _Parameter:
    """`replaced` is `factor*symbol + rest`, where `symbol` is `quotient`."""

    symbol: Symbol
    quotient: Dim
    replaced: Symbol
    factor: Dim
    rest: Dim


@dataclass(frozen=True)
class _Rule:
    """`coefficient*monomial` may be replaced, since `coefficient*monomial + rest` is zero."""

    monomial: Monomial
    coefficient: int
    rest: Dim

    @property
    def equation(self) -> Dim:
        return Dim({self.monomial: self.coefficient}) + self.rest

    def apply(self, dim: Dim) -> Dim:
        for _ in range(MOST_STEPS):
            for monomial, coefficient in dim.terms:
                others = divide_monomial(monomial, self.monomial)
                if others is not None and coefficient % self.coefficient == 0:
                    dim = dim - Dim({others: coefficient // self.coefficient}) * self.equation
                    break
            else:
                break
        return dim


class Reading:
    """What facts make of sizes.

    Args:
        values: named sizes that are known to equal another size; no value has a name that has a value.
        exact: (numerator, denominator) of divisions known to leave no rest.
        least: each is at least 0.
        different: each is not 0.
    """

    def __init__(
        self,
        values: Mapping[Symbol, Dim],
        exact: Iterable[tuple[Dim, Dim]],
        least: Iterable[Dim],
        different: Iterable[Dim],
    ) -> None:
        self.values = dict(values)
        self.known: tuple[Dim, ...] = ()
        self.different: frozenset[Dim] = frozenset()
        self._parameters: list[_Parameter] = []
        self._rules: list[_Rule] = []
        self._cache: dict[Dim, Dim] = {}
        self.signs: dict[Dim, Verdict] = {}  # which sizes are at least 0, for `Facts.at_least`
        for numerator, denominator in in_order(exact):
            self._learn_exact(numerator, denominator)
        read = dict.fromkeys((*map(self.read, sorted(least, key=lambda dim: dim.sort_key)), *self.known))
        self.known = tuple(without_nonzero_factors(dim)[1] for dim in read if dim.constant is None)
        self.different = frozenset(primitive(self.read(dim)) for dim in different)
        self.is_impossible = ZERO in self.different or any((dim.constant or 0) < 0 for dim in read)
        self._cache.clear()

    @property
    def equations(self) -> tuple[Dim, ...]:
        """Sizes known to be zero that no replacement of a name expresses."""
        return tuple(rule.equation for rule in self._rules)

    def read(self, dim: Dim) -> Dim:
        """`dim` in terms of free names."""
        if not self.values and not self._rules and dim.is_polynomial:
            return dim
        found = self._cache.get(dim)
        if found is None:
            found = self._cache[dim] = self._read(dim)
        return found

    def write(self, dim: Dim) -> Dim:
        """What was read, in terms of the user's names."""
        for parameter in reversed(self._parameters):
            if parameter.symbol in dim.symbols():
                dim = _at_every_level(dim, partial(_written_back, parameter))
                dim = dim.substitute({parameter.symbol: parameter.quotient})
        return dim

    def _read(self, dim: Dim) -> Dim:
        dim = dim.substitute(self.values)
        for rule in self._rules:
            dim = _at_every_level(dim, rule.apply)
        return dim if dim.is_polynomial else _at_every_level(dim, self._decided)

    def _decided(self, dim: Dim) -> Dim:
        return dim.replace_atoms(self._decide)

    def _decide(self, atom: Atom) -> Dim | None:
        """The size that a floor or a min is by the bounds that are known."""
        match atom:
            case FloorDiv(numerator, denominator):
                low = lower_bound_where(numerator, self.known)
                if low is None or (lower_bound_where(denominator, self.known) or 0) < 1:
                    return None
                divisor = denominator.constant
                if divisor is not None:
                    quotient = low // divisor
                else:
                    quotient = 0 if low >= 0 else -1
                    if low < 0 and not is_nonnegative(numerator + denominator, self.known):
                        return None
                if is_nonnegative(denominator * (quotient + 1) - 1 - numerator, self.known):
                    return Dim.of(quotient)
            case Min(choices) if len(choices) <= MOST_CHOICES:
                kept = list(choices)
                for choice in choices:
                    if any(is_nonnegative(choice - other, self.known) for other in kept if other != choice):
                        kept.remove(choice)
                if len(kept) < len(choices):
                    return minimum(*kept)
        return None

    def _learn_exact(self, numerator: Dim, denominator: Dim) -> None:
        numerator, denominator = self.read(numerator), self.read(denominator)
        if not denominator.terms:
            return
        quotient = numerator // denominator
        equation = denominator * quotient - numerator
        if equation.constant is not None or is_refuted_by_divisor(equation):
            return
        equation = primitive(equation)
        floors = [atom for atom in dict.fromkeys(equation.atoms()) if isinstance(atom, FloorDiv)]
        if len(floors) == 1 and self._parametrize(equation, floors[0]):
            return
        self._add_rule(equation)

    def _add_rule(self, equation: Dim) -> None:
        """Replace the first product with a floor in an equation by the rest of it."""
        for monomial, coefficient in equation.terms:
            if any(isinstance(atom, FloorDiv) for atom, _ in monomial):
                self._rules.append(_Rule(monomial, coefficient, equation - Dim({monomial: coefficient})))
                self._cache.clear()
                return

    def _parametrize(self, equation: Dim, floor: FloorDiv) -> bool:
        """Read a name of the equation as a multiple of a new name that stands for the floor."""
        split = split_by(equation, floor)
        if split is None:
            return False
        for monomial, coefficient in split[1].terms:
            if abs(coefficient) != 1 or len(monomial) != 1 or monomial[0][1] != 1:
                continue
            replaced = monomial[0][0]
            rest = split[1] - Dim({monomial: coefficient})
            if not isinstance(replaced, Symbol) or replaced in split[0].symbols() | rest.symbols():
                continue
            factor = split[0] * -coefficient
            rest = rest * -coefficient
            kind = Kind.UNKNOWN if Dim.atom(floor).has_unknown else replaced.kind
            symbol = Symbol(floor.sort_key[1], kind, "exact", _least_quotient(replaced, factor, rest, floor))
            self._parameters.append(_Parameter(symbol, self.write(Dim.atom(floor)), replaced, factor, rest))
            value = factor * Dim.atom(symbol) + rest
            if replaced.low is not None and not is_nonnegative(value - replaced.low):
                self.known = (*self.known, value - replaced.low)
            self._replace(replaced, value)
            return True
        return False

    def _replace(self, symbol: Symbol, value: Dim) -> None:
        self.values = {name: dim.substitute({symbol: value}) for name, dim in self.values.items()}
        self.values[symbol] = value
        rules, self._rules = self._rules, []
        for rule in rules:
            self._add_rule(primitive(rule.equation.substitute({symbol: value})))
        self.known = tuple(dim.substitute({symbol: value}) for dim in self.known)
        self._cache.clear()


def in_order(divisions: Iterable[tuple[Dim, Dim]]) -> list[tuple[Dim, Dim]]:
    """(numerator, denominator) pairs, the simpler first: what is divided before its quotients."""
    return sorted(divisions, key=lambda pair: (len(pair[0].sort_key), pair[0].sort_key, pair[1].sort_key))


def _least_quotient(replaced: Symbol, factor: Dim, rest: Dim, floor: FloorDiv) -> int | None:
    """The least value of (replaced - rest) / factor."""
    low, shift = replaced.low, rest.constant
    if low is not None and shift is not None:
        if factor.constant is not None and factor.constant > 0:
            return -((shift - low) // factor.constant)
        if is_positive(factor) and low - shift >= 0:
            return min(low - shift, 1)
    return least_value(floor)


def _written_back(parameter: _Parameter, dim: Dim) -> Dim:
    """`dim` with the replaced name wherever its value is seen."""
    if len(parameter.factor.terms) != 1:
        return dim
    ((by, divisor),) = (parameter.factor * Dim.atom(parameter.symbol)).terms
    back = Dim.atom(parameter.replaced) - parameter.rest
    total = ZERO
    for monomial, coefficient in dim.terms:
        others = divide_monomial(monomial, by)
        if others is None or coefficient % divisor:
            total = total + Dim({monomial: coefficient})
        else:
            total = total + Dim({others: coefficient // divisor}) * back
    return total


def _at_every_level(dim: Dim, change: Callable[[Dim], Dim]) -> Dim:
    """`dim` changed, after what is inside its floors and mins."""

    def inside(atom: Atom) -> Dim | None:
        match atom:
            case FloorDiv(numerator, denominator):
                top, bottom = _at_every_level(numerator, change), _at_every_level(denominator, change)
                same = (top is numerator and bottom is denominator) or not bottom.terms
                return None if same else top // bottom
            case Min(choices):
                new = [_at_every_level(choice, change) for choice in choices]
                return None if all(a is b for a, b in zip(new, choices, strict=True)) else minimum(*new)
            case _:
                return None

    return change(dim.replace_atoms(inside))
