"""What sizes are made of: named sizes, floor divisions and minima, and the products of them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shaped.spec.dims import Dim


class Kind(enum.Enum):
    """How free a named size is."""

    NAME = "name"  # a dim name in an annotation: any size from 1
    QUANTITY = "quantity"  # an int that a caller chose (a constructor's or function's argument): any value
    UNKNOWN = "unknown"  # a size that was not followed: it may equal anything, equal only to itself
    INDEX = "index"  # a place on an axis, or the value of an integer tensor there (`spec.index`): any of its range


@dataclass(frozen=True)
class Symbol:
    """A named size. Two symbols are the same size when all their fields are equal.

    `scope` tells equal names apart (`b` of two functions); `low` is the least value, None if it may be negative;
    `hides` are the names that an unknown size depends on when it stands for a size too large to follow.
    """

    name: str
    kind: Kind = Kind.NAME
    scope: str = ""
    low: int | None = 1
    hides: frozenset[Symbol] = frozenset()

    def __str__(self) -> str:
        is_opaque = self.kind is Kind.UNKNOWN and self.scope == "opaque"  # its name is a hash
        return "_" if self.is_fresh or is_opaque else self.name

    @cached_property
    def number(self) -> int | None:
        """The number of a size that was not followed and has no name of its own (`Context.fresh`)."""
        is_numbered = self.kind is Kind.UNKNOWN and self.name.startswith("_") and self.name[1:].isdigit()
        return int(self.name[1:]) if is_numbered else None

    @property
    def is_fresh(self) -> bool:
        """Whether it is a size that was not followed and has no name of its own."""
        return self.number is not None

    @property
    def may_be_one(self) -> bool:
        """Whether it is the size of a `#name` axis of an annotation: 1, or the size that has the name."""
        return self.name.startswith("#")

    def substituted(self, values: Mapping[Symbol, Dim | int]) -> Dim | None:
        """What it becomes when names that it hides are replaced; None to keep it."""
        from shaped.spec.opaque import after_substitution

        return after_substitution(self, values)

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        """Where it stands among the factors of a product."""
        return (0, f"{self.name} {self.scope} {self.kind.value} {self.low}")

    @cached_property
    def _hash(self) -> int:
        return hash(self.sort_key)

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class FloorDiv:
    """The integer part of numerator / denominator, an atom where it does not simplify."""

    numerator: Dim
    denominator: Dim

    def __str__(self) -> str:
        from shaped.spec.dims import Dim

        return str(Dim.atom(self))

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        """Where it stands among the factors of a product."""
        return (1, f"{self.numerator.sort_key}//{self.denominator.sort_key}")

    @cached_property
    def _hash(self) -> int:
        return hash((self.numerator, self.denominator))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True)
class Min:
    """The least of two or more sizes, an atom where the order is not evident."""

    choices: tuple[Dim, ...]

    def __str__(self) -> str:
        from shaped.spec.dims import Dim

        return str(Dim.atom(self))

    @cached_property
    def sort_key(self) -> tuple[int, str]:
        """Where it stands among the factors of a product."""
        return (2, ",".join(choice.sort_key for choice in self.choices))

    @cached_property
    def _hash(self) -> int:
        return hash(self.choices)

    def __hash__(self) -> int:
        return self._hash


Atom = Symbol | FloorDiv | Min
Monomial = tuple[tuple[Atom, int], ...]  # atoms with their powers, sorted; () is the constant's monomial


def multiply(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    if not left:
        return right
    if not right:
        return left
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    if len(powers) == 1:
        return tuple(powers.items())
    return tuple(sorted(powers.items(), key=lambda factor: factor[0].sort_key))


def order_key(term: tuple[Monomial, int]) -> tuple[int, tuple[tuple[tuple[int, str], int], ...]]:
    """Higher degrees first, then by name, higher powers of the first name first: an order that products keep."""
    monomial, _ = term
    return (-sum(power for _, power in monomial), tuple((atom.sort_key, -power) for atom, power in monomial))
