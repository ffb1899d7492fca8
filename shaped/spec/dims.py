"""Sizes as integer polynomials over named sizes, with floor division, min and max; one normal form.

Two `Dim`s that are equal as objects are equal for all sizes. `a % b` is `a - b*(a//b)`, `ceildiv(a, b)` is
`-(-a//b)` and `max(a, b)` is `-min(-a, -b)`, so only floor division and min are atoms beside the names.
What cannot be decided by the normal form is decided in `facts`.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from shaped.errors import Origin


class Kind(enum.Enum):
    """How free a named size is."""

    NAME = "name"  # a dim name in an annotation: any size from 1
    QUANTITY = "quantity"  # an int that a caller chose (a constructor's or function's argument): any value
    UNKNOWN = "unknown"  # a size that was not followed: it may equal anything, equal only to itself


@dataclass(frozen=True)
class Symbol:
    """A named size. Two symbols are the same size when all their fields are equal.

    `scope` tells equal names apart (`b` of two functions); `low` is the least value, None if it may be negative.
    """

    name: str
    kind: Kind = Kind.NAME
    scope: str = ""
    low: int | None = 1

    def __str__(self) -> str:
        return "_" if self.kind is Kind.UNKNOWN else self.name

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        return (0, f"{self.name} {self.scope} {self.kind.value}")


@dataclass(frozen=True)
class FloorDiv:
    """The integer part of numerator / denominator, an atom where it does not simplify."""

    numerator: Dim
    denominator: Dim

    def __str__(self) -> str:
        return f"{_factor(self.numerator)}//{_factor(self.denominator)}"

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        return (1, _key(self.numerator) + "//" + _key(self.denominator))


@dataclass(frozen=True)
class Min:
    """The least of two or more sizes, an atom where the order is not evident."""

    choices: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"min({', '.join(map(str, self.choices))})"

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        return (2, "min" + ",".join(map(_key, self.choices)))


Atom = Union[Symbol, FloorDiv, Min]
Monomial = tuple[tuple[Atom, int], ...]  # atoms with their powers, sorted; () is the constant's monomial
DimLike = Union["Dim", int]

_ONE: Monomial = ()


class Dim:
    """A size: an immutable integer polynomial in normal form.

    `origin` says where the size was written; it takes no part in equality.

    >>> b, h = Dim.name("b"), Dim.name("h")
    >>> print(2 * b + h * h - 1)
    2*b+h*h-1
    >>> (b * h) // h == b
    True
    """

    __slots__ = ("_hash", "origin", "terms")

    def __init__(self, terms: Mapping[Monomial, int], origin: Origin | None = None) -> None:
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(
            sorted(((m, c) for m, c in terms.items() if c), key=lambda term: _order(term[0]))
        )
        self.origin = origin
        self._hash = hash(self.terms)

    @staticmethod
    def of(value: DimLike) -> Dim:
        """`value` as a Dim."""
        return value if isinstance(value, Dim) else Dim({_ONE: int(value)})

    @staticmethod
    def name(name: str, scope: str = "", low: int | None = 1) -> Dim:
        """The dim `name` of an annotation: any size from `low`."""
        return Dim.atom(Symbol(name, Kind.NAME, scope, low))

    @staticmethod
    def quantity(name: str, scope: str = "", low: int | None = None) -> Dim:
        """An int that a caller chose."""
        return Dim.atom(Symbol(name, Kind.QUANTITY, scope, low))

    @staticmethod
    def atom(atom: Atom) -> Dim:
        """The polynomial that is `atom` alone."""
        return Dim({((atom, 1),): 1})

    def at(self, origin: Origin | None) -> Dim:
        """The same size, said to come from `origin`."""
        copy = Dim.__new__(Dim)
        copy.terms, copy._hash, copy.origin = self.terms, self._hash, origin
        return copy

    @property
    def constant(self) -> int | None:
        """The size as an int, None unless it is the same for all sizes."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return coefficient if monomial == _ONE and len(self.terms) == 1 else None

    @property
    def single_atom(self) -> Atom | None:
        """The atom that this size is, None if it is more than one atom."""
        if len(self.terms) == 1:
            monomial, coefficient = self.terms[0]
            if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                return monomial[0][0]
        return None

    @property
    def symbol(self) -> Symbol | None:
        """The named size that this size is, None if it is more than one name."""
        atom = self.single_atom
        return atom if isinstance(atom, Symbol) else None

    def atoms(self) -> Iterator[Atom]:
        """The atoms of the polynomial, not those inside other atoms."""
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                yield atom

    def symbols(self) -> frozenset[Symbol]:
        """Every named size that it depends on."""
        found: set[Symbol] = set()
        for atom in self.atoms():
            match atom:
                case Symbol():
                    found.add(atom)
                case FloorDiv(numerator, denominator):
                    found |= numerator.symbols() | denominator.symbols()
                case Min(choices):
                    found.update(*(choice.symbols() for choice in choices))
        return frozenset(found)

    @property
    def has_unknown(self) -> bool:
        """Whether it depends on a size that was not followed."""
        return any(symbol.kind is Kind.UNKNOWN for symbol in self.symbols())

    def rewrite(self, replace: Callable[[Atom], Dim | None]) -> Dim:
        """The size with atoms replaced, innermost first; `replace` gives None for an atom to keep."""
        if not any(monomial for monomial, _ in self.terms):
            return self
        total = ZERO
        changed = False
        for monomial, coefficient in self.terms:
            product = Dim.of(coefficient)
            for atom, power in monomial:
                new = _rewrite_atom(atom, replace)
                changed = changed or new is not None
                factor = Dim.atom(atom) if new is None else new
                for _ in range(power):
                    product = product * factor
            total = total + product
        return total.at(self.origin) if changed else self

    def substitute(self, values: Mapping[Symbol, DimLike]) -> Dim:
        """The size with named sizes replaced.

        >>> h = Symbol("h")
        >>> print(((Dim.atom(h) - 1) // 2).substitute({h: 9}))
        4
        """

        def replace(atom: Atom) -> Dim | None:
            return Dim.of(values[atom]) if isinstance(atom, Symbol) and atom in values else None

        return self.rewrite(replace)

    def evaluate(self, values: Mapping[Symbol, int]) -> int:
        """The size as an int, for a value of every named size.

        Raises:
            KeyError: a named size has no value.
            ZeroDivisionError: a denominator is zero there.
        """
        total = 0
        for monomial, coefficient in self.terms:
            for atom, power in monomial:
                match atom:
                    case Symbol():
                        value = values[atom]
                    case FloorDiv(numerator, denominator):
                        value = numerator.evaluate(values) // denominator.evaluate(values)
                    case Min(choices):
                        value = min(choice.evaluate(values) for choice in choices)
                coefficient *= value**power
            total += coefficient
        return total

    def __add__(self, other: DimLike) -> Dim:
        other = Dim.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return Dim(total)

    def __mul__(self, other: DimLike) -> Dim:
        other = Dim.of(other)
        if other.terms == _UNIT_TERMS:
            return self
        if self.terms == _UNIT_TERMS:
            return other
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, c in other.terms:
                monomial = _multiply(left, right)
                total[monomial] = total.get(monomial, 0) + a * c
        return Dim(total)

    def __neg__(self) -> Dim:
        return Dim({monomial: -coefficient for monomial, coefficient in self.terms})

    def __sub__(self, other: DimLike) -> Dim:
        return self + -Dim.of(other)

    def __radd__(self, other: int) -> Dim:
        return self + other

    def __rmul__(self, other: int) -> Dim:
        return self * other

    def __rsub__(self, other: int) -> Dim:
        return Dim.of(other) - self

    def __pow__(self, power: int) -> Dim:
        result = ONE
        for _ in range(power):
            result = result * self
        return result

    def __floordiv__(self, other: DimLike) -> Dim:
        return _floor_divide(self, Dim.of(other))

    def __rfloordiv__(self, other: int) -> Dim:
        return Dim.of(other) // self

    def __mod__(self, other: DimLike) -> Dim:
        return self - Dim.of(other) * (self // other)

    def __rmod__(self, other: int) -> Dim:
        return Dim.of(other) % self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.constant == other
        return isinstance(other, Dim) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        raise TypeError("a Dim has no truth value: compare it through Facts")

    def __repr__(self) -> str:
        return f"Dim({self})"

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        # The constant last, positive terms first: `t-1`, not `-1+t`.
        terms = sorted(self.terms, key=lambda term: (term[0] == _ONE, term[1] < 0))
        for monomial, coefficient in terms:
            text += _print_term(monomial, coefficient, first=not text)
        return text


def ceildiv(a: DimLike, b: DimLike) -> Dim:
    """a / b rounded up.

    >>> print(ceildiv(7, 2))
    4
    """
    return -(-Dim.of(a) // Dim.of(b))


def minimum(*dims: DimLike) -> Dim:
    """The least of `dims`; choices that are never the least are dropped.

    >>> t = Dim.name("t")
    >>> print(minimum(t, t + 1), minimum(t, 64))
    t min(t, 64)
    """
    choices: list[Dim] = []
    pending = [Dim.of(dim) for dim in dims]
    while pending:
        dim = pending.pop(0)
        atom = dim.single_atom
        if isinstance(atom, Min):
            pending = [*atom.choices, *pending]
            continue
        for i, kept in enumerate(choices):
            difference = (dim - kept).constant
            if difference is not None:
                if difference < 0:
                    choices[i] = dim
                break
        else:
            choices.append(dim)
    if len(choices) == 1:
        return choices[0]
    return Dim.atom(Min(tuple(sorted(choices, key=lambda dim: (dim.constant is not None, _key(dim))))))


def maximum(*dims: DimLike) -> Dim:
    """The greatest of `dims`.

    >>> print(maximum(Dim.name("t"), 3))
    max(t, 3)
    """
    return -minimum(*(-Dim.of(dim) for dim in dims))


def product(dims: Iterator[Dim] | tuple[Dim, ...] | list[Dim]) -> Dim:
    """The product of `dims`: the number of elements of a shape."""
    return math.prod(dims, start=ONE)


def _floor_divide(numerator: Dim, denominator: Dim) -> Dim:
    divisor = denominator.constant
    if divisor == 0:
        raise ZeroDivisionError(f"{numerator}//0")
    if denominator.terms[0][1] < 0 and len(denominator.terms) == 1:
        numerator, denominator = -numerator, -denominator
        divisor = denominator.constant
    if divisor == 1:
        return numerator
    if len(denominator.terms) == 1:
        whole, rest = _split_multiples(numerator, denominator)
    else:
        whole, rest = (ONE, ZERO) if numerator == denominator else (ZERO, numerator)
    if divisor is not None and rest.constant is not None:
        return whole + rest.constant // divisor
    if not rest.terms:
        return whole
    rest, denominator = _cancel_common_factor(rest, denominator)
    if denominator == 1:
        return whole + rest
    if not _is_reduced(rest, denominator):
        return whole + _floor_divide(rest, denominator)
    return whole + Dim.atom(FloorDiv(rest, denominator))


def _split_multiples(numerator: Dim, denominator: Dim) -> tuple[Dim, Dim]:
    """whole and rest with numerator = denominator*whole + rest, rest's coefficients reduced; one-term denominator."""
    (monomial, divisor), *_ = denominator.terms
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for term, coefficient in numerator.terms:
        quotient = _divide_monomial(term, monomial)
        if quotient is None:
            rest[term] = coefficient
        else:
            whole[quotient], rest[term] = divmod(coefficient, divisor)
    return Dim(whole), Dim(rest)


def _cancel_common_factor(numerator: Dim, denominator: Dim) -> tuple[Dim, Dim]:
    """The fraction without the atoms and the number that both sides share, and with nested floors joined."""
    if len(denominator.terms) == 1:
        (monomial, divisor), *_ = denominator.terms
        for atom, power in monomial:
            common = min([power, *(dict(term).get(atom, 0) for term, _ in numerator.terms)])
            if common:
                factor: Monomial = ((atom, common),)
                numerator = Dim({_require(_divide_monomial(t, factor)): c for t, c in numerator.terms})
                denominator = Dim({_require(_divide_monomial(m, factor)): c for m, c in denominator.terms})
        whole_terms = {t: c for t, c in numerator.terms if t != _ONE}
        factor_of_terms = math.gcd(divisor, *whole_terms.values())
        constant_part = dict(numerator.terms).get(_ONE, 0)
        # floor((g*y + c) / (g*z)) = floor((y + floor(c/g)) / z) for integers y, z: also when z is symbolic.
        if factor_of_terms > 1:
            numerator = Dim({t: c // factor_of_terms for t, c in whole_terms.items()}) + constant_part // factor_of_terms
            denominator = Dim({m: c // factor_of_terms for m, c in denominator.terms})
    nested = _nested_floor(numerator)
    if nested is not None and _is_positive(denominator) and _is_positive(nested[0].denominator):
        # floor((floor(x/a) + c) / b) = floor((x + a*c) / (a*b)) for positive a, b.
        inner, shift = nested
        return inner.numerator + inner.denominator * shift, inner.denominator * denominator
    return numerator, denominator


def _nested_floor(numerator: Dim) -> tuple[FloorDiv, int] | None:
    shift = dict(numerator.terms).get(_ONE, 0)
    atom = (numerator - shift).single_atom
    return (atom, shift) if isinstance(atom, FloorDiv) else None


def _is_positive(dim: Dim) -> bool:
    """Whether it is evidently at least 1: a positive multiple of sizes that are at least 1."""
    return all(c > 0 for _, c in dim.terms) and all(
        isinstance(atom, Symbol) and atom.low is not None and atom.low >= 1 for atom in dim.atoms()
    )


def _is_reduced(numerator: Dim, denominator: Dim) -> bool:
    if len(denominator.terms) == 1:
        whole, _ = _split_multiples(numerator, denominator)
        return not whole.terms and _cancel_common_factor(numerator, denominator) == (numerator, denominator)
    return numerator != denominator


def _divide_monomial(monomial: Monomial, by: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for atom, power in by:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)


def _require(monomial: Monomial | None) -> Monomial:
    assert monomial is not None
    return monomial


def _multiply(left: Monomial, right: Monomial) -> Monomial:
    if not left:
        return right
    if not right:
        return left
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda factor: factor[0].sort_key))


def _rewrite_atom(atom: Atom, replace: Callable[[Atom], Dim | None]) -> Dim | None:
    match atom:
        case FloorDiv(numerator, denominator):
            top, bottom = numerator.rewrite(replace), denominator.rewrite(replace)
            rebuilt = None if top is numerator and bottom is denominator else top // bottom
        case Min(choices):
            new = tuple(choice.rewrite(replace) for choice in choices)
            rebuilt = None if all(a is b for a, b in zip(new, choices)) else minimum(*new)
        case _:
            return replace(atom)
    if rebuilt is None:
        return replace(atom)
    again = rebuilt.single_atom
    replaced = replace(again) if again is not None else None
    return rebuilt if replaced is None else replaced


def _order(monomial: Monomial) -> tuple[int, tuple[tuple[tuple[int, str], int], ...]]:
    """Higher degrees first, then by name."""
    return (-sum(power for _, power in monomial), tuple((atom.sort_key, power) for atom, power in monomial))


def _key(dim: Dim) -> str:
    return "+".join(f"{c}*{'*'.join(f'{a.sort_key}^{p}' for a, p in m)}" for m, c in dim.terms)


def _print_term(monomial: Monomial, coefficient: int, *, first: bool) -> str:
    sign = "-" if coefficient < 0 else "" if first else "+"
    size = abs(coefficient)
    atoms = [atom for atom, power in monomial for _ in range(power)]
    alone = len(atoms) == 1 and size == 1
    factors = [f"({atom})" if isinstance(atom, FloorDiv) and not alone else str(atom) for atom in atoms]
    if coefficient < 0 and len(monomial) == 1 and monomial[0][1] == 1:
        # -min(-a, -b) is how max(a, b) is held; -(-a//b) is how a rounded-up quotient is held.
        atom = monomial[0][0]
        if isinstance(atom, Min):
            sign = "" if first else "+"
            factors = [f"max({', '.join(str(-choice) for choice in atom.choices)})"]
        elif isinstance(atom, FloorDiv) and all(c < 0 for _, c in atom.numerator.terms):
            sign = "" if first else "+"
            factors = [f"ceil({-atom.numerator}/{_factor(atom.denominator)})"]
    if size != 1 or not factors:
        factors.insert(0, str(size))
    return sign + "*".join(factors)


def _factor(dim: Dim) -> str:
    text = str(dim)
    return text if dim.constant is not None or dim.single_atom is not None and "//" not in text else f"({text})"


ZERO = Dim({})
ONE = Dim({_ONE: 1})
_UNIT_TERMS = ONE.terms
