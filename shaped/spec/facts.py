"""What is known about sizes on one path of a program, and what follows from it.

`Facts` is immutable: a path that learns something has new facts. `compare` gives the verdict on an equation:

- PROVED: it holds for all sizes;
- NEVER: no sizes satisfy it, unknown ones included;
- SOMETIMES: named sizes for which it fails are shown (`sizes`); others may satisfy it;
- ASSUMABLE: it holds under a condition that code like this relies on (`assumption`): a dim name that first meets a
  caller's int takes its value, a division that the user wrote with `//` leaves no rest, the smaller of `min(t, 64)`
  is the one that is needed, an image size that a fixed head pins;
- OPEN: it depends on sizes that were not followed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from shaped.spec.dims import Dim, DimLike, Symbol


class Status(enum.Enum):
    """How an equation stands; the module says what each means."""

    PROVED = "proved"
    NEVER = "never"
    SOMETIMES = "sometimes"
    ASSUMABLE = "assumable"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """The answer to an equation or an inequality.

    `sizes` are values of named sizes for which it fails (NEVER, SOMETIMES); `assumption` is what has to hold, in the
    user's names (`d % h == 0`), and `learned` the facts with it (ASSUMABLE).
    """

    status: Status
    sizes: Mapping[str, int] = field(default_factory=dict)
    assumption: str = ""
    learned: Facts | None = None


@dataclass(frozen=True)
class Facts:
    """What is known about sizes: replacements, exact divisions and bounds.

    Args:
        values: named sizes that are known to equal another size.
        exact: (numerator, denominator) of divisions known to leave no rest.
        intended: (numerator, denominator) of divisions that the user wrote with `//`: meant to leave no rest.
        least: lower bounds: each dim is at least 0.
        different: each dim is not 0.
    """

    values: Mapping[Symbol, Dim] = field(default_factory=dict)
    exact: frozenset[tuple[Dim, Dim]] = frozenset()
    intended: frozenset[tuple[Dim, Dim]] = frozenset()
    least: frozenset[Dim] = frozenset()
    different: frozenset[Dim] = frozenset()

    def normalize(self, dim: Dim) -> Dim:
        """`dim` with everything applied that is known."""
        raise NotImplementedError

    def compare(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a == b."""
        raise NotImplementedError

    def at_least(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a >= b."""
        raise NotImplementedError

    def with_equal(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a == b was seen to hold; unchanged if it teaches nothing that can be used."""
        raise NotImplementedError

    def with_at_least(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a >= b was seen to hold."""
        raise NotImplementedError

    def with_different(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a != b was seen to hold."""
        raise NotImplementedError

    def with_exact(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after numerator % denominator == 0 was seen to hold."""
        raise NotImplementedError

    def with_intended(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after the user wrote numerator // denominator."""
        raise NotImplementedError

    def join(self, other: Facts) -> Facts:
        """What holds on both of two paths that meet."""
        raise NotImplementedError


def solve(equation: tuple[DimLike, DimLike], unknown: Symbol) -> Dim | range | None:
    """The values of `unknown` that satisfy an equation: one size, a range of ints, or None if it is not solvable here.

    `2*a = 6` gives 3; `(h + 2*p - k)//s + 1 = 14` with constants gives a range of `h`; an empty range says that no
    int satisfies it.
    """
    raise NotImplementedError
