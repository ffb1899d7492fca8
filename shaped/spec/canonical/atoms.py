"""Atoms: what the monomials of a canonical form are made of. Equal atoms of one context are one object."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from shaped.spec import dims
    from shaped.spec.canonical.polynomials import Context, Polynomial
    from shaped.spec.canonical.signs import Sign
    from shaped.spec.dims import Dim, FloorDiv
    from shaped.spec.expr import Variable
    from shaped.spec.index import Index

Rational = int | Fraction


class Atom:
    """What a monomial has powers of.

    Attributes:
        context: whose atom it is.
        number: tells it from the other atoms of its context; factors of a monomial are sorted by it.
        free: its free indices.
        variables: the names of the float variables that it depends on, also through definitions.
        height: the greatest level of an index that it binds, -1 if it binds none.
        parts: the fields that make it.
        sign: what is certain of its sign.
        quotients: the floor divisions by sizes in it.
        shape: a hash that no replacement of indices changes.
        signature: a hash that is the same whatever its indices are called: the order of monomials rests on it.
    """

    context: Context
    number: int
    free: frozenset[Index]
    variables: frozenset[str]
    height: int
    sign: Sign | None
    quotients: frozenset[FloorDiv]
    shape: int
    signature: int

    parts: tuple[object, ...]

    rank: ClassVar[int]  # the kinds in the order of monomials: sizes first, sums last, conditions above all
    is_plain: ClassVar[bool] = True  # whether its powers only add up; if not, `normalise` has rules for it
    is_indicator: ClassVar[bool] = False  # whether its values are 0 and 1


Factor = tuple[Atom, Rational]
Monomial = tuple[Factor, ...]  # sorted by the atoms' numbers; () is the constant's monomial


@dataclass(eq=False)
class NumberAtom(Atom):
    """A size, an index, a lookup, a floor division or a minimum, as a number."""

    atom: dims.Atom
    rank = 0


@dataclass(eq=False)
class PrimeAtom(Atom):
    """A prime to a power between 0 and 1."""

    prime: int
    rank = 1
    is_plain = False


@dataclass(eq=False)
class PiAtom(Atom):
    """The number pi."""

    rank = 1


@dataclass(eq=False)
class InfinityAtom(Atom):
    """More than every number."""

    rank = 1


@dataclass(eq=False)
class EntryAtom(Atom):
    """An entry of a float tensor."""

    variable: Variable
    at: tuple[Dim, ...]
    rank = 1


@dataclass(eq=False)
class ExpAtom(Atom):
    """exp of one monomial: exp(2*a - b) is exp(a)^2 * exp(b)^-1, so that products of exponentials merge."""

    argument: Monomial
    rank = 2


@dataclass(eq=False)
class FunctionAtom(Atom):
    """An elementary function other than exp."""

    function: str
    argument: Polynomial
    rank = 2


@dataclass(eq=False)
class CosineAtom(Atom):
    """A cosine: its square is 1 - sin^2."""

    argument: Polynomial
    rank = 2
    is_plain = False


@dataclass(eq=False)
class BaseAtom(Atom):
    """A polynomial of several terms under a power that is negative or no integer."""

    base: Polynomial
    rank = 4
    is_plain = False


@dataclass(eq=False)
class GreatestAtom(Atom):
    """The greatest value of a polynomial over an index."""

    index: Index
    body: Polynomial
    rank = 4


@dataclass(eq=False)
class SumAtom(Atom):
    """The sum of one monomial, connected by its indices, over one or more indices."""

    indices: tuple[Index, ...]
    body: Monomial
    rank = 5


@dataclass(eq=False)
class ProductAtom(Atom):
    """The product of a polynomial over an index."""

    index: Index
    body: Polynomial
    rank = 6
    is_plain = False


@dataclass(eq=False)
class IndexZeroAtom(Atom):
    """1 where an index expression is 0, else 0."""

    dim: Dim
    rank = 7
    is_plain = False
    is_indicator = True


@dataclass(eq=False)
class IndexNonnegativeAtom(Atom):
    """1 where an index expression is at least 0, else 0."""

    dim: Dim
    rank = 7
    is_plain = False
    is_indicator = True


@dataclass(eq=False)
class FlagAtom(Atom):
    """An entry of a bool tensor as 1 or 0."""

    variable: Variable
    at: tuple[Dim, ...]
    rank = 7
    is_plain = False
    is_indicator = True


@dataclass(eq=False)
class PositiveAtom(Atom):
    """1 where a polynomial is greater than 0, else 0."""

    argument: Polynomial
    rank = 7
    is_plain = False
    is_indicator = True


@dataclass(eq=False)
class ZeroAtom(Atom):
    """1 where a polynomial is 0, else 0."""

    argument: Polynomial
    rank = 7
    is_plain = False
    is_indicator = True
