"""Canonical forms: polynomials, with rational coefficients and exponents, in the atoms of one context."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from shaped.spec.atoms import Kind
from shaped.spec.canonical import search, signatures, signs
from shaped.spec.canonical.assumptions import NO_ASSUMPTIONS, Assumptions, Undecided
from shaped.spec.canonical.atoms import (
    Atom,
    EntryAtom,
    FlagAtom,
    GreatestAtom,
    IndexNonnegativeAtom,
    IndexZeroAtom,
    Monomial,
    NumberAtom,
    ProductAtom,
    Rational,
    SumAtom,
)
from shaped.spec.dims import Dim
from shaped.spec.expr import Node, Variable
from shaped.spec.index import Index, free_indices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

A = TypeVar("A", bound=Atom)

MOST_STEPS = 100_000  # products of monomials in one context: larger forms are not decided


def exact(value: Rational) -> Rational:
    """The number as an int where it is whole: ints are several times faster."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


class Context:
    """What one comparison assumes, with the atoms and all results that rest on these assumptions."""

    def __init__(self, assumptions: Assumptions = NO_ASSUMPTIONS) -> None:
        self.assumptions = assumptions
        self.known = tuple(sorted(assumptions.least, key=lambda dim: dim.sort_key))
        self.atoms: dict[tuple[object, ...], Any] = {}
        self.read: dict[Node, Polynomial] = {}
        self.substituted: dict[tuple[object, ...], Polynomial] = {}
        self.leads: dict[Atom, Any] = {}
        self.splits_prefixes = False  # whether [v >= e] is 1 - [v <= e-1] under a sum: a second attempt needs it
        self.writes_out = True  # whether a sum over a small constant range is written out
        self.expands_definitions = False  # whether an entry of an intermediate is its definition
        self.steps = 0

    def atom(self, kind: type[A], *fields: Any) -> A:
        """The one atom of this kind with these fields."""
        key = (kind, *fields)
        atom = self.atoms.get(key)
        if atom is None:
            atom = self.atoms[key] = kind(*fields)
            atom.context, atom.parts = self, fields
            atom.number = len(self.atoms)
            atom.free, atom.variables, atom.height = _facts(atom)
            atom.sign = signs.sign_of_atom(self, atom)
            atom.quotients = search.quotients_of(atom)
            atom.shape = signatures.shape_of(atom)
            atom.signature = signatures.atom_signature(atom, signatures.NO_COLOURS)
        return cast("A", atom)

    def count_step(self) -> None:
        """Count one step.

        Raises:
            Undecided: too many have been made.
        """
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Undecided("the canonical form is too large")

    def constant(self, value: Rational) -> Polynomial:
        """A rational number."""
        return Polynomial(self, {(): exact(value)} if value else {})

    def power_of(self, atom: Atom, exponent: Rational = 1) -> Polynomial:
        """A power of one atom."""
        from shaped.spec.canonical.products import normalise

        return normalise(self, 1, {atom: exponent})


def _facts(atom: Atom) -> tuple[frozenset[Index], frozenset[str], int]:
    """The free indices, the float variables and the height of an atom."""
    match atom:
        case SumAtom(indices, body):
            free, names, height = _monomial_facts(body)
            return free.difference(indices), names, max(height, *(level_of(index) for index in indices))
        case GreatestAtom(index, body) | ProductAtom(index, body):
            return body.free - {index}, body.variables, max(body.height, level_of(index))
        case EntryAtom(variable, at):
            inner = frozenset[str]() if variable.definition is None else variables_of(variable.definition[1])
            return _free_of(at), inner | {variable.name}, -1
        case FlagAtom(_, at):
            return _free_of(at), frozenset(), -1
        case IndexZeroAtom(dim) | IndexNonnegativeAtom(dim):
            return free_indices(dim), frozenset(), -1
        case NumberAtom(inner):
            return free_indices(Dim.atom(inner)), frozenset(), -1
    free, names, height = frozenset[Index](), frozenset[str](), -1
    for part in atom.parts:
        if isinstance(part, Polynomial):
            free, names, height = free | part.free, names | part.variables, max(height, part.height)
        elif isinstance(part, tuple):
            free, names, height = _monomial_facts(part)
    return free, names, height


def _monomial_facts(monomial: Monomial) -> tuple[frozenset[Index], frozenset[str], int]:
    free = frozenset[Index]().union(*(atom.free for atom, _ in monomial))
    names = frozenset[str]().union(*(atom.variables for atom, _ in monomial))
    return free, names, max((atom.height for atom, _ in monomial), default=-1)


def _free_of(dims: Iterable[Dim]) -> frozenset[Index]:
    return frozenset[Index]().union(*(free_indices(dim) for dim in dims))


@lru_cache(maxsize=4096)
def variables_of(node: Node) -> frozenset[str]:
    """The float variables of an expression, those of definitions too."""
    found: set[str] = set()
    for field in node.fields:
        if isinstance(field, Variable):
            found.add(field.name)
            if field.definition is not None:
                found |= variables_of(field.definition[1])
    for part in node.parts():
        if isinstance(part, Node):
            found |= variables_of(part)
    return frozenset(found)


@lru_cache(maxsize=4096)
def bound_index(level: int, size: Dim) -> Index:
    """The index that a canonical atom binds at this level; it is never free."""
    return Index("ijklmnopqrstuvw"[level % 15], Kind.INDEX, f"#{level} {size.sort_key}", 0, size=size)


@lru_cache(maxsize=4096)
def working_index(number: int, size: Dim) -> Index:
    """An index for the body of a binder that is opened; the one who opens it chooses a number that is not in use."""
    return Index("ijklmnopqrstuvw"[number % 15], Kind.INDEX, f"~{number} {size.sort_key}", 0, size=size)


def unused_index(size: Dim, used: Iterable[Index]) -> Index:
    """The first working index that is not in use."""
    number, taken = 0, frozenset(used)
    while (index := working_index(number, size)) in taken:
        number += 1
    return index


def level_of(index: Index) -> int:
    """The level of an index made by `bound_index`."""
    return int(index.scope[1 : index.scope.index(" ")])


class Polynomial:
    """A sum of monomials with their coefficients, none 0. Two of one context that are equal as objects are equal."""

    __slots__ = ("_free", "_hash", "_variables", "context", "terms")

    def __init__(self, context: Context, terms: Mapping[Monomial, Rational]) -> None:
        self.context = context
        self.terms = terms
        self._hash: int | None = None
        self._free: frozenset[Index] | None = None
        self._variables: frozenset[str] | None = None

    @property
    def free(self) -> frozenset[Index]:
        """The free indices."""
        if self._free is None:
            self._free = frozenset[Index]().union(*(atom.free for monomial in self.terms for atom, _ in monomial))
        return self._free

    @property
    def variables(self) -> frozenset[str]:
        """The names of the float variables that it depends on."""
        if self._variables is None:
            names = (atom.variables for monomial in self.terms for atom, _ in monomial)
            self._variables = frozenset[str]().union(*names)
        return self._variables

    @property
    def height(self) -> int:
        """The greatest level of an index that is bound in it, -1 if none is."""
        return max((atom.height for monomial in self.terms for atom, _ in monomial), default=-1)

    @property
    def constant(self) -> Rational | None:
        """Its value if it is a rational number."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def single(self) -> tuple[Monomial, Rational] | None:
        """Its term if it has exactly one."""
        return next(iter(self.terms.items())) if len(self.terms) == 1 else None

    def scaled(self, number: Rational) -> Polynomial:
        """The product with a rational number."""
        if number == 1:
            return self
        if not number:
            return Polynomial(self.context, {})
        return Polynomial(self.context, {monomial: exact(c * number) for monomial, c in self.terms.items()})

    def __add__(self, other: Polynomial | Rational) -> Polynomial:
        if not isinstance(other, Polynomial):
            other = self.context.constant(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        terms = dict(self.terms)
        accumulate(terms, other)
        return Polynomial(self.context, terms)

    def __radd__(self, other: Rational) -> Polynomial:
        return self + other

    def __neg__(self) -> Polynomial:
        return Polynomial(self.context, {monomial: -c for monomial, c in self.terms.items()})

    def __sub__(self, other: Polynomial | Rational) -> Polynomial:
        return self + -other

    def __rsub__(self, other: Rational) -> Polynomial:
        return -self + other

    def __mul__(self, other: Polynomial) -> Polynomial:
        from shaped.spec.canonical.products import multiply

        return multiply(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and (self is other or self.terms == other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash


def accumulate(terms: dict[Monomial, Rational], added: Polynomial) -> None:
    """Add a polynomial to terms in place."""
    for monomial, c in added.terms.items():
        total = terms.get(monomial, 0) + c
        if total:
            terms[monomial] = exact(total)
        else:
            del terms[monomial]


def total_of(context: Context, parts: Iterable[Polynomial]) -> Polynomial:
    """The sum of polynomials."""
    terms: dict[Monomial, Rational] = {}
    for part in parts:
        accumulate(terms, part)
    return Polynomial(context, terms)
