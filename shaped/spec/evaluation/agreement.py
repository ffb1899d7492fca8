"""Whether two expressions have equal values at random points: the check that every proof has to pass.

It shares nothing with what proves: the expressions are evaluated as they stand, in exact arithmetic where the values
are rational, else in balls of 128 bits. A proof that is wrong would have to be wrong for no point drawn here, and for
functions that are analytic on their domain (all that expressions can say, between kinks) two that differ are equal on
a set of measure 0 only. Where balls cannot decide a branch (two irrational numbers that are equal), residues modulo a
prime may (`scalars.field`); as a law that they lack makes them differ, they only ever show that values are equal.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.evaluation.evaluate import Evaluated, Evaluation
from shaped.spec.evaluation.samples import Names, Point, draw
from shaped.spec.scalars.field import Field
from shaped.spec.scalars.field_number import FieldNumber
from shaped.spec.scalars.fractions import Fractions
from shaped.spec.scalars.system import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shaped.spec.atoms import Symbol
    from shaped.spec.expr import Condition, Expr
    from shaped.spec.index import Index

_PRECISIONS = (128, 512)
# Balls of equal values must agree on this many bits to count; two expressions that differ by less, relative to the
# larger of 1 and their value, at a random point are not told apart.
_BITS = 64
_STYLES = ("any", "positive", "small", "near")


@dataclass(frozen=True)
class Disagreement:
    """A point at which two expressions have different values.

    Args:
        sizes: the named sizes.
        values: the tensors.
        place: the values of the indices.
        left: the value of the first expression, a fraction or an enclosure of it.
        right: the value of the second.
    """

    sizes: Mapping[str, int]
    values: Mapping[str, Any]
    place: tuple[int, ...]
    left: object
    right: object

    def __str__(self) -> str:
        given = [f"{name} = {size}" for name, size in self.sizes.items()]
        given += [f"{name} = {_shown(value)}" for name, value in self.values.items()]
        at = f" at {list(self.place)}" if self.place else ""
        return f"{self.left} against {self.right}{at} for {', '.join(given)}"


@dataclass
class Agreement:
    """What came of comparing two expressions at random points.

    Args:
        entries: how many pairs of values were compared and equal.
        exact: how many of these were fractions.
        points: at how many points all values were defined and compared.
        disagreement: the first difference, None if there is none.
        skipped: how many values were not compared, by the reason.
        undefined: of these, how many where only the second expression has no value.
        sides: for each comparison of a number in the expressions the answers that it gave at some point.
    """

    entries: int = 0
    exact: int = 0
    points: int = 0
    disagreement: Disagreement | None = None
    skipped: Counter[Reason] = field(default_factory=Counter)
    undefined: int = 0
    sides: dict[Condition, set[bool]] = field(default_factory=dict)

    @property
    def one_sided(self) -> tuple[Condition, ...]:
        """The comparisons that came out the same at all points, so that one branch was not compared."""
        return tuple(condition for condition, seen in self.sides.items() if len(seen) < 2)

    @property
    def holds(self) -> bool:
        """Whether values were compared, and all are equal. A check in which nothing was compared is no check."""
        return self.disagreement is None and self.entries > 0

    def __str__(self) -> str:
        if self.disagreement is not None:
            return f"different: {self.disagreement}"
        if self.entries:
            return f"equal at {self.entries} entries of random points, {self.exact} of them fractions"
        reasons = ", ".join(f"{reason.text} ({count})" for reason, count in self.skipped.most_common())
        return f"nothing was compared: {reasons or 'no point was found'}"


def check_equal(
    left: Expr,
    right: Expr,
    indices: Sequence[Index],
    *,
    seed: int = 0,
    rounds: int = 12,
    sizes: Mapping[Symbol, int] | None = None,
) -> Agreement:
    """Compare two expressions at random sizes and points.

    Points outside the domain of either expression do not count. Conditions on numbers are decided exactly, so ties and
    kinks are met only where an expression makes them.

    Args:
        left: an expression.
        right: another one.
        indices: the indices that both may depend on.
        seed: what the points are drawn from.
        rounds: how many points are drawn.
        sizes: sizes that are not drawn.

    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.expr import Variable, apply
    >>> from shaped.spec.index import fresh_index
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> cosine = apply("cos", x[i.dim]) ** 2
    >>> check_equal(1 - apply("sin", x[i.dim]) ** 2, cosine, [i]).holds
    True
    >>> check_equal(1 - apply("sin", x[i.dim]), cosine, [i]).holds
    False
    """
    source = random.Random(seed)
    names = Names.of([left, right], indices)
    result = Agreement()
    for number in range(rounds):
        try:
            point = draw(names, source, _STYLES[number % len(_STYLES)], sizes)
        except ValueError:  # no tensors of the sizes that were drawn
            continue
        _compare(left, right, indices, point, result)
        if result.disagreement is not None:
            break
    return result


def _compare(left: Expr, right: Expr, indices: Sequence[Index], point: Point, result: Agreement) -> None:
    """Compare at one point, and add what comes of it to the result."""
    undecided: set[tuple[int, ...]] | None = None
    reasons: dict[tuple[int, ...], Reason] = {}
    for system in exact_systems():
        evaluation = Evaluation(system, point.sizes, point.values)
        first, second = evaluation(left, indices), evaluation(right, indices)
        still: set[tuple[int, ...]] = set()
        for at in np.ndindex(first.data.shape):
            if undecided is not None and at not in undecided:
                continue
            reason = _first_reason(first, second, at)
            if reason is not None:
                reasons[at] = reason
                if reason in (Reason.IRRATIONAL, Reason.UNDECIDED):
                    still.add(at)
                continue
            one: Any = first.data[at]
            other: Any = second.data[at]
            equal = are_equal(one, other)
            if equal is None:
                reasons[at] = Reason.UNDECIDED
                still.add(at)
            elif equal:
                result.entries += 1
                result.exact += isinstance(one, Fraction)
                reasons.pop(at, None)
            else:
                result.disagreement = Disagreement(
                    {symbol.name: size for symbol, size in point.sizes.items()}, point.values, at, one, other
                )
                return
        for condition, seen in evaluation.conditions.sides().items():
            result.sides.setdefault(condition, set()).update(seen)
        undecided = still
        if not undecided:
            break
    result.points += not reasons
    result.skipped.update(reasons.values())


def exact_systems() -> Iterator[Any]:
    """Number systems to compare in, from the fractions to ever smaller balls."""
    yield Fractions()
    from shaped.spec.scalars.balls import Balls

    for precision in _PRECISIONS:
        yield Balls(precision)
    yield Field()


def _first_reason(first: Evaluated, second: Evaluated, at: tuple[int, ...]) -> Reason | None:
    """Why two values cannot be compared; what another number system cannot change comes first."""
    found = [Reason(int(each.reasons[at])) for each in (first, second) if each.reasons[at]]
    final = [reason for reason in found if reason not in (Reason.IRRATIONAL, Reason.UNDECIDED)]
    return (final or found or [None])[0]


def are_equal(one: Any, other: Any) -> bool | None:
    """Whether two values are equal, None if their enclosures are too wide to tell."""
    if isinstance(one, (Fraction, float)) and isinstance(other, (Fraction, float)):  # floats are infinities
        return one == other
    if isinstance(one, FieldNumber) and isinstance(other, FieldNumber):
        return True if one.residue == other.residue else None
    if isinstance(one, float) or isinstance(other, float):
        return False
    if not one.overlaps(other):
        return False
    widest = max(float(one.rad()), float(other.rad()))
    return True if widest <= 2.0**-_BITS * max(1.0, float(abs(one.mid()))) else None


def _shown(value: Any) -> object:
    array = np.asarray(value)
    return [_shown(each) for each in array] if array.ndim else str(array.item())
