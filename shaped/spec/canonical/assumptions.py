"""What may be taken for granted during one comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.spec.dims import Dim


@dataclass(frozen=True)
class Assumptions:
    """What may be taken for granted during one comparison; nothing of it outlives the comparison.

    Args:
        least: sizes, free of indices, that are at least 0 (`n - 2` where `n` is at least 2).
        positive: names of float variables whose entries are all greater than 0.
    """

    least: frozenset[Dim] = frozenset()
    positive: frozenset[str] = frozenset()


NO_ASSUMPTIONS = Assumptions()


class Undefined(ArithmeticError):
    """The expression has no value: a division by 0, the logarithm of a number that is not positive."""


class Undecided(Exception):
    """The expression has no canonical form here: a construct that is not followed, or too large a form."""
