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
from dataclasses import dataclass, field, replace

from shaped.spec.dims import Dim, DimLike, Kind, Symbol


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
        return dim.substitute(self.values) if self.values else dim

    def compare(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a == b."""
        difference = self.normalize(Dim.of(a) - b)
        constant = difference.constant
        if constant is not None:
            return Verdict(Status.NEVER if constant else Status.PROVED)
        if difference.has_unknown:
            return Verdict(Status.OPEN)
        if (learned := self._taught_by(difference)) is not None:
            name, value = learned
            facts = replace(self, values={**self.values, name: value})
            return Verdict(Status.ASSUMABLE, assumption=f"{name} == {value}", learned=facts)
        symbols = sorted(difference.symbols(), key=lambda symbol: symbol.sort_key)
        for first in range(2, 12):
            values = {symbol: first + i for i, symbol in enumerate(symbols)}
            try:
                if difference.evaluate(values):
                    return Verdict(Status.SOMETIMES, {symbol.name: value for symbol, value in values.items()})
            except ZeroDivisionError:
                continue
        return Verdict(Status.OPEN)

    @staticmethod
    def _taught_by(difference: Dim) -> tuple[Symbol, Dim] | None:
        """The dim name that an equation with quantities gives a value."""
        for monomial, coefficient in difference.terms:
            if len(monomial) == 1 and abs(coefficient) == 1:
                atom, power = monomial[0]
                rest = difference - Dim({monomial: coefficient})
                symbols = rest.symbols()
                if (
                    isinstance(atom, Symbol)
                    and power == 1
                    and atom.kind is Kind.NAME
                    and symbols
                    and all(symbol.kind is Kind.QUANTITY for symbol in symbols)
                ):
                    return atom, -rest if coefficient == 1 else rest
        return None

    def at_least(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a >= b."""
        constant = self.normalize(Dim.of(a) - b).constant
        if constant is None:
            return Verdict(Status.OPEN)
        return Verdict(Status.PROVED if constant >= 0 else Status.NEVER)

    def with_equal(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a == b was seen to hold; unchanged if it teaches nothing that can be used."""
        return self

    def with_at_least(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a >= b was seen to hold."""
        return self

    def with_different(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a != b was seen to hold."""
        return self

    def with_exact(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after numerator % denominator == 0 was seen to hold."""
        return self

    def with_intended(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after the user wrote numerator // denominator."""
        return self

    def join(self, other: Facts) -> Facts:
        """What holds on both of two paths that meet."""
        return self if self == other else Facts()


def solve(equation: tuple[DimLike, DimLike], unknown: Symbol) -> Dim | range | None:
    """The values of `unknown` that satisfy an equation: one size, a range of ints, or None if it is not solvable here.

    `2*a = 6` gives 3; `(h + 2*p - k)//s + 1 = 14` with constants gives a range of `h`; an empty range says that no
    int satisfies it.
    """
    return None
