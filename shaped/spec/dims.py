"""Sizes as integer polynomials over named sizes, with floor division, min and max; one normal form.

Two `Dim`s that are equal as objects are equal for all sizes. `a % b` is `a - b*(a//b)`, `ceildiv(a, b)` is
`-(-a//b)` and `max(a, b)` is `-min(-a, -b)`, so only floor division and min are atoms beside the names; their normal
forms are in `normal_form`, the way back to `d%h` and `ceil(h/2)` is in `dim_text`. What no normal form can decide is
decided in `facts`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Union

from shaped.spec.atoms import Atom, FloorDiv, Kind, Min, Monomial, Symbol, multiply, order_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from shaped.errors import Origin


__all__ = [
    "ONE",
    "ONE_MONOMIAL",
    "ZERO",
    "Atom",
    "Dim",
    "DimLike",
    "FloorDiv",
    "Kind",
    "Min",
    "Monomial",
    "Symbol",
    "ceildiv",
    "maximum",
    "minimum",
    "multiply",
    "product",
]

DimLike = Union["Dim", int]

ONE_MONOMIAL: Monomial = ()

# Larger sizes are not followed, so that every program is checked in bounded time.
MOST_TERMS = 64
MOST_DEGREE = 32
MOST_BITS = 1024  # of a number
_LARGE = 2**MOST_BITS


class Dim:
    """A size: an immutable integer polynomial in normal form.

    `origin` says where the size was written; it takes no part in equality.

    >>> b, h = Dim.name("b"), Dim.name("h")
    >>> print(2 * b + h * h - 1)
    h*h+2*b-1
    >>> (b * h) // h == b
    True
    """

    __slots__ = ("_hash", "_symbols", "_text", "origin", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: Mapping[Monomial, int], origin: Origin | None = None) -> None:
        kept = [term for term in terms.items() if term[1]]
        if len(kept) > 1:
            kept.sort(key=order_key)
        self.terms = tuple(kept)
        self.origin = origin
        self._hash: int | None = None
        self._symbols: frozenset[Symbol] | None = None
        self._text: str | None = None

    @staticmethod
    def of(value: DimLike) -> Dim:
        """`value` as a Dim."""
        if isinstance(value, Dim):
            return value
        return Dim._in_order(((ONE_MONOMIAL, int(value)),) if value else ())

    @staticmethod
    def _in_order(terms: tuple[tuple[Monomial, int], ...]) -> Dim:
        """The polynomial of terms that are in order and none of which is zero."""
        made = Dim.__new__(Dim)
        made.terms = terms
        made.origin = made._hash = made._symbols = made._text = None
        return made

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
        return Dim._in_order(((((atom, 1),), 1),))

    def at(self, origin: Origin | None) -> Dim:
        """The same size, said to come from `origin`."""
        copy = Dim.__new__(Dim)
        copy.terms, copy._hash, copy._symbols, copy.origin = self.terms, self._hash, self._symbols, origin
        copy._text = self._text
        return copy

    @property
    def constant(self) -> int | None:
        """The size as an int, None unless it is the same for all sizes."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[0]
        return None if monomial else coefficient

    @property
    def constant_part(self) -> int:
        """The coefficient without names."""
        if not self.terms:
            return 0
        monomial, coefficient = self.terms[-1]
        return 0 if monomial else coefficient

    @property
    def degree(self) -> int:
        """The greatest number of factors in a term."""
        return sum(power for _, power in self.terms[0][0]) if self.terms else 0

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
        if self._symbols is None:
            found: set[Symbol] = set()
            for atom in self.atoms():
                match atom:
                    case Symbol():
                        found.add(atom)
                        found |= atom.hides
                    case FloorDiv(numerator, denominator):
                        found |= numerator.symbols() | denominator.symbols()
                    case Min(choices):
                        found.update(*(choice.symbols() for choice in choices))
            self._symbols = frozenset(found)
        return self._symbols

    @property
    def has_unknown(self) -> bool:
        """Whether it depends on a size that was not followed."""
        return any(symbol.kind is Kind.UNKNOWN for symbol in self.symbols())

    @property
    def is_polynomial(self) -> bool:
        """Whether it has no floor division and no min."""
        return all(isinstance(atom, Symbol) for atom in self.atoms())

    def replace_atoms(self, replace: Callable[[Atom], Dim | None]) -> Dim:
        """The size with the atoms of the polynomial replaced; `replace` gives None for an atom to keep."""
        new = {atom: replaced for atom in self.atoms() if (replaced := replace(atom)) is not None}
        if not new:
            return self
        total = ZERO
        for monomial, coefficient in self.terms:
            kept = tuple((atom, power) for atom, power in monomial if atom not in new)
            term = Dim({kept: coefficient})
            for atom, power in monomial:
                if atom in new:
                    term = term * new[atom] ** power
            total = total + term
        return total.at(self.origin)

    def rewrite(self, replace: Callable[[Atom], Dim | None]) -> Dim:
        """The size with atoms replaced at every depth, innermost first; `replace` gives None for an atom to keep.

        A quotient whose denominator would become zero is kept as it is.
        """

        def replace_inside(atom: Atom) -> Dim | None:
            match atom:
                case FloorDiv(numerator, denominator):
                    top, bottom = numerator.rewrite(replace), denominator.rewrite(replace)
                    if (top is numerator and bottom is denominator) or not bottom.terms:
                        return replace(atom)
                    rebuilt = top // bottom
                case Min(choices):
                    new = tuple(choice.rewrite(replace) for choice in choices)
                    if all(a is b for a, b in zip(new, choices, strict=True)):
                        return replace(atom)
                    rebuilt = minimum(*new)
                case _:
                    return replace(atom)
            again = rebuilt.single_atom
            replaced = replace(again) if again is not None and not isinstance(again, Symbol) else None
            return rebuilt if replaced is None else replaced

        return self.replace_atoms(replace_inside)

    def substitute(self, values: Mapping[Symbol, DimLike]) -> Dim:
        """The size with named sizes replaced.

        >>> h = Symbol("h")
        >>> print(((Dim.atom(h) - 1) // 2).substitute({h: 9}))
        4
        """
        if self.symbols().isdisjoint(values):
            return self

        def replace(atom: Atom) -> Dim | None:
            if not isinstance(atom, Symbol):
                return None
            if atom in values:
                return Dim.of(values[atom])
            return None if atom.hides.isdisjoint(values) else atom.substituted(values)

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
                if isinstance(atom, Symbol):
                    value = values[atom]
                elif isinstance(atom, FloorDiv):
                    value = atom.numerator.evaluate(values) // atom.denominator.evaluate(values)
                else:
                    value = min(choice.evaluate(values) for choice in atom.choices)
                coefficient *= value**power
            total += coefficient
        return total

    def __add__(self, other: DimLike) -> Dim:
        other = Dim.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        if not other.terms[0][0]:
            return self._plus(other.terms[0][1])
        if not self.terms[0][0]:
            return other._plus(self.terms[0][1])
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return Dim(total) if len(total) <= MOST_TERMS else _bounded(Dim(total))

    def _plus(self, number: int) -> Dim:
        """The sum with a number that is not 0: its term is the last one."""
        monomial, coefficient = self.terms[-1]
        if monomial:
            terms = (*self.terms, (ONE_MONOMIAL, number))
            return Dim._in_order(terms) if len(terms) <= MOST_TERMS else _bounded(Dim._in_order(terms))
        total = coefficient + number
        return Dim._in_order((*self.terms[:-1], (ONE_MONOMIAL, total)) if total else self.terms[:-1])

    def __mul__(self, other: DimLike) -> Dim:
        other = Dim.of(other)
        if other.terms == _UNIT_TERMS:
            return self
        if self.terms == _UNIT_TERMS:
            return other
        if not self.terms or not other.terms:
            return ZERO
        if len(other.terms) == 1 and not other.terms[0][0]:
            return self._times(other.terms[0][1])
        if len(self.terms) == 1 and not self.terms[0][0]:
            return other._times(self.terms[0][1])
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, c in other.terms:
                monomial = multiply(left, right)
                total[monomial] = total.get(monomial, 0) + a * c
        product = Dim(total)
        small = len(total) <= MOST_TERMS and product.degree <= MOST_DEGREE and max(map(abs, total.values())) < _LARGE
        return product if small else _bounded(product)

    def _times(self, number: int) -> Dim:
        """The product with a number that is not 0: its terms are in the same order."""
        terms = tuple([(monomial, coefficient * number) for monomial, coefficient in self.terms])
        product = Dim._in_order(terms)
        return product if all(abs(coefficient) < _LARGE for _, coefficient in terms) else _bounded(product)

    def __neg__(self) -> Dim:
        return Dim._in_order(tuple([(monomial, -coefficient) for monomial, coefficient in self.terms]))

    def __sub__(self, other: DimLike) -> Dim:
        return self + -other  # of an int, too

    def __radd__(self, other: int) -> Dim:
        return self + other

    def __rmul__(self, other: int) -> Dim:
        return self * other

    def __rsub__(self, other: int) -> Dim:
        return Dim.of(other) - self

    def __pow__(self, power: int) -> Dim:
        if power < 0:
            raise ValueError(f"{self}**{power} is no size")
        constant = self.constant
        if constant is not None and (abs(constant) < 2 or power * constant.bit_length() <= MOST_BITS):
            return Dim.of(constant**power)
        if power > MOST_DEGREE:
            from shaped.spec.opaque import opaque

            return opaque(f"({self.sort_key})^{power}", self.symbols())
        return math.prod([self] * power, start=ONE)

    def __floordiv__(self, other: DimLike) -> Dim:
        # The normal forms build on Dim, so they can be imported only when a Dim is used.
        from shaped.spec.normal_form import floor_divide

        return floor_divide(self, Dim.of(other))

    def __rfloordiv__(self, other: int) -> Dim:
        return Dim.of(other) // self

    def __mod__(self, other: DimLike) -> Dim:
        return self - Dim.of(other) * (self // other)

    def __rmod__(self, other: int) -> Dim:
        return Dim.of(other) % self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self.terms == other.terms
        return isinstance(other, int) and self.constant == other

    def __hash__(self) -> int:
        if self._hash is None:
            constant = self.constant
            self._hash = hash(self.terms) if constant is None else hash(constant)
        return self._hash

    def __bool__(self) -> bool:
        raise TypeError("a Dim has no truth value: compare it through Facts")

    @property
    def sort_key(self) -> str:
        """Text that is the same for equal sizes only, also where names are printed alike."""
        return "+".join(f"{c}*{'*'.join(f'{a.sort_key[1]}^{p}' for a, p in m)}" for m, c in self.terms)

    def __repr__(self) -> str:
        return f"Dim({self})"

    def __str__(self) -> str:
        if self._text is None:
            from shaped.spec.dim_text import text

            self._text = text(self)
        return self._text


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
    from shaped.spec.normal_form import least_of

    return least_of([Dim.of(dim) for dim in dims])


def maximum(*dims: DimLike) -> Dim:
    """The greatest of `dims`.

    >>> print(maximum(Dim.name("t"), 3))
    max(t, 3)
    """
    return -minimum(*(-Dim.of(dim) for dim in dims))


def product(dims: Iterable[Dim]) -> Dim:
    """The product of `dims`: the number of elements of a shape."""
    return math.prod(dims, start=ONE)


def _bounded(dim: Dim) -> Dim:
    from shaped.spec.opaque import bounded

    return bounded(dim)


ZERO = Dim({})
ONE = Dim({ONE_MONOMIAL: 1})
_UNIT_TERMS = ONE.terms
