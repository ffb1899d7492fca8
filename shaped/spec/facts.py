"""What is known about sizes on one path of a program, and what follows from it.

`Facts` is immutable: a path that learns something has new facts. `compare` gives the verdict on an equation:

- PROVED: it holds for all sizes;
- NEVER: no sizes satisfy it, unknown ones included;
- SOMETIMES: named sizes for which it fails are shown (`sizes`); others may satisfy it;
- ASSUMABLE: it holds under a condition that code like this relies on (`assumption`): a dim name that first meets a
  caller's int takes its value, a division that the user wrote with `//` leaves no rest, the smaller of `min(t, 64)`
  is the one that is needed, an image size that a fixed head pins;
- OPEN: it depends on sizes that were not followed, or it was not decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from shaped.spec.bounds import is_nonnegative, split_by
from shaped.spec.dims import Dim, DimLike, FloorDiv, Kind, Symbol
from shaped.spec.equations import is_never_zero, judge_at_least, judge_equality
from shaped.spec.reading import Reading
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.solve import integer_roots, is_refuted_by_divisor, primitive, solve, without_nonzero_factors
from shaped.spec.verdict import NEVER, OPEN, PROVED, Status, Verdict

__all__ = ["Facts", "Status", "Verdict", "solve"]

_PREFERENCE = {Kind.NAME: 0, Kind.QUANTITY: 1, Kind.UNKNOWN: 2}


@dataclass(frozen=True)
class Facts:
    """What is known about sizes: replacements, exact divisions and bounds.

    Args:
        values: named sizes that are known to equal another size.
        exact: (numerator, denominator) of divisions known to leave no rest.
        intended: (numerator, denominator) of divisions that the user wrote with `//`: meant to leave no rest.
        least: lower bounds: each dim is at least 0.
        different: each dim is not 0.
        axes: axes that were not followed, and what they are known to be since: `b, t, d = x.shape`.
    """

    values: Mapping[Symbol, Dim] = field(default_factory=dict)
    exact: frozenset[tuple[Dim, Dim]] = frozenset()
    intended: frozenset[tuple[Dim, Dim]] = frozenset()
    least: frozenset[Dim] = frozenset()
    different: frozenset[Dim] = frozenset()
    axes: Mapping[Pack, tuple[Axis, ...]] = field(default_factory=dict)

    @cached_property
    def _hash(self) -> int:
        return hash((tuple(self.values.items()), self.exact, self.intended, self.least, self.different, *self.axes))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def reading(self) -> Reading:
        """The facts, ready to be used."""
        return _reading(tuple(self.values.items()), self.exact, self.least, self.different)

    @cached_property
    def _names(self) -> frozenset[Symbol]:
        """The names of which something is known."""
        dims = (*self.values.values(), *(dim for pair in self.exact for dim in pair), *self.least, *self.different)
        return frozenset(self.values).union(*(dim.symbols() for dim in dims))

    @cached_property
    def _verdicts(self) -> dict[tuple[Dim, Dim], Verdict]:
        return {}

    def normalize(self, dim: Dim) -> Dim:
        """`dim` with everything applied that is known.

        >>> d, h = Dim.name("d"), Dim.name("h")
        >>> print(Facts().with_exact(d, h).normalize(h * (d // h) + 1))
        d+1
        """
        reading = self.reading
        read = reading.read(dim)
        return dim if read is dim else reading.write(read)

    def seen(self, shape: Shape) -> Shape:
        """`shape` with the axes that are known by now.

        >>> from shaped.spec.shape import Pack
        >>> hidden = Pack("_0", Kind.UNKNOWN)
        >>> print(Facts().with_axes(hidden, (Dim.of(2), Dim.of(3))).seen(Shape.of(hidden, 4)))
        (2, 3, 4)
        """
        pack = shape.pack
        while pack is not None and pack in self.axes:
            place = shape.axes.index(pack)
            shape = Shape((*shape.axes[:place], *self.axes[pack], *shape.axes[place + 1 :]))
            pack = shape.pack
        return shape

    def with_axes(self, pack: Pack, axes: tuple[Axis, ...]) -> Facts:
        """The facts after axes that were not followed were seen to be these."""
        return replace(self, axes={**self.axes, pack: axes})

    def compare(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a == b.

        >>> d, h = Dim.name("d"), Dim.name("h")
        >>> print(Facts().compare(d, h).sizes, Facts().compare(2 * d, 3).status)
        {'d': 2, 'h': 3} Status.NEVER
        """
        a, b = Dim.of(a), Dim.of(b)
        if self.is_impossible:
            return OPEN
        if a.terms == b.terms:
            return PROVED
        if a.constant is not None and b.constant is not None:
            return NEVER
        found = self._verdicts.get((a, b))
        if found is None:
            is_open = self._may_be_any(a) and self._may_be_any(b) and (a.has_unknown or b.has_unknown)
            found = self._verdicts[a, b] = OPEN if is_open else judge_equality(self, a, b)
        return found

    def _may_be_any(self, dim: Dim) -> bool:
        """Whether it is a name of which nothing is known. What most comparisons are about is judged by this alone."""
        symbol = dim.symbol
        return symbol is not None and not symbol.hides and symbol not in self._names

    def at_least(self, a: DimLike, b: DimLike) -> Verdict:
        """The verdict on a >= b; never ASSUMABLE."""
        reading = self.reading
        if reading.is_impossible:
            return OPEN
        difference = Dim.of(a) - b
        found = reading.signs.get(difference)
        if found is None:
            found = reading.signs[difference] = judge_at_least(self, a, b)
        return found

    def with_equal(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a == b was seen to hold; unchanged if it teaches nothing that can be used.

        A name takes the value of the rest of the equation: a dim name first, then a caller's int, then a size that was
        not followed.
        """
        difference = self.normalize(Dim.of(a) - b)
        if difference.constant is not None or is_refuted_by_divisor(difference):
            return self if not difference.terms else self.impossible
        _, equation = without_nonzero_factors(primitive(difference))
        if is_never_zero(self.reading, self.reading.read(equation)):
            return self.impossible
        atoms = set(equation.atoms())
        if len(atoms) == 1:
            (atom,) = atoms
            roots = integer_roots(equation, atom) or []
            if len(roots) == 1 and isinstance(atom, Symbol):
                return self._with_value(atom, Dim.of(roots[0]))
            if len(roots) == 1 and isinstance(atom, FloorDiv) and (divisor := atom.denominator.constant) is not None:
                low = roots[0] * divisor
                return self.with_at_least(atom.numerator, low).with_at_least(low + divisor - 1, atom.numerator)
        for symbol in sorted(equation.symbols(), key=lambda symbol: (_PREFERENCE[symbol.kind], symbol.sort_key)):
            split = split_by(equation, symbol)
            if split is None:
                continue
            factor, rest = split
            if factor.constant in (1, -1) and symbol not in rest.symbols():
                return self._with_value(symbol, rest * -factor)
        division = _exact_division(equation)
        if division is not None:
            return self.with_exact(*division)
        return replace(self, least=self.least | {equation, -equation})

    @property
    def impossible(self) -> Facts:
        """The facts of a path that no sizes reach."""
        return replace(self, least=self.least | {Dim.of(-1)})

    @property
    def is_impossible(self) -> bool:
        """Whether what is known contradicts itself: no sizes reach this path, and every verdict on it is OPEN.

        >>> d = Dim.name("d")
        >>> Facts().with_equal(d, 3).with_equal(d, 4).is_impossible
        True
        """
        return self.reading.is_impossible

    def _with_value(self, symbol: Symbol, value: Dim) -> Facts:
        values = {name: dim.substitute({symbol: value}) for name, dim in self.values.items()}
        values[symbol] = value
        least = self.least
        if symbol.low is not None and not is_nonnegative(value - symbol.low):
            least = least | {value - symbol.low}
        return replace(self, values=values, least=least)

    def with_at_least(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a >= b was seen to hold."""
        difference = Dim.of(a) - b
        read = self.reading.read(difference)
        if is_nonnegative(read, self.reading.known):
            return self
        if is_nonnegative(-read - 1, self.reading.known):
            return self.impossible
        if is_nonnegative(-read, self.reading.known):
            return self.with_equal(a, b)
        return replace(self, least=self.least | {difference})

    def with_different(self, a: DimLike, b: DimLike) -> Facts:
        """The facts after a != b was seen to hold."""
        difference = Dim.of(a) - b
        read = self.reading.read(difference)
        if not read.terms:
            return self.impossible
        if is_never_zero(self.reading, read):
            return self
        return replace(self, different=self.different | {primitive(difference)})

    def with_exact(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after numerator % denominator == 0 was seen to hold."""
        numerator, denominator = Dim.of(numerator), Dim.of(denominator)
        if not self.reading.read(denominator).terms:
            return self.impossible
        remainder = numerator % denominator
        read = self.reading.read(remainder)
        if not read.terms:
            return self.with_different(denominator, 0)  # what was divided by was not 0
        if not any(isinstance(atom, FloorDiv) for atom in remainder.atoms()):
            return self.with_equal(remainder, 0)
        if is_never_zero(self.reading, read):
            return self.impossible
        return replace(self, exact=self.exact | {(numerator, denominator)})

    def with_intended(self, numerator: DimLike, denominator: DimLike) -> Facts:
        """The facts after the user wrote numerator // denominator."""
        numerator, denominator = Dim.of(numerator), Dim.of(denominator)
        division = (numerator, denominator)
        if division in self.intended or not denominator.terms or (numerator % denominator).constant is not None:
            return self
        return replace(self, intended=self.intended | {division})

    def join(self, other: Facts) -> Facts:
        """What holds on both of two paths that meet."""
        if self is other or self == other or other.is_impossible:
            return self
        if self.is_impossible:
            return other
        axes = {pack: own for pack, own in self.axes.items() if other.axes.get(pack) == own}
        joined = Facts(intended=self.intended | other.intended, axes=axes)
        for one, two in ((self, other), (other, self)):
            for symbol, value in one.values.items():
                name = Dim.atom(symbol)
                if not two.normalize(name - value).terms:
                    joined = joined.with_equal(name, value)
                elif two.at_least(name, value).status is Status.PROVED:
                    joined = joined.with_at_least(name, value)
                elif two.at_least(value, name).status is Status.PROVED:
                    joined = joined.with_at_least(value, name)
            for numerator, denominator in one.exact:
                if not two.normalize(numerator % denominator).terms:
                    joined = joined.with_exact(numerator, denominator)
            for dim in one.least:
                if two.at_least(dim, 0).status is Status.PROVED:
                    joined = joined.with_at_least(dim, 0)
            for dim in one.different:
                if is_never_zero(two.reading, two.reading.read(dim)):
                    joined = joined.with_different(dim, 0)
        return joined


# Equal facts are learned again and again, in each round of a loop and on each path, and to read them is not cheap.
@lru_cache(maxsize=512)
def _reading(
    values: tuple[tuple[Symbol, Dim], ...],
    exact: frozenset[tuple[Dim, Dim]],
    least: frozenset[Dim],
    different: frozenset[Dim],
) -> Reading:
    return Reading(dict(values), exact, least, different)


def _exact_division(equation: Dim) -> tuple[Dim, Dim] | None:
    """The division that leaves no rest when `equation`, which is `x%y` or `x%y - r`, is zero."""
    for floor in equation.atoms():
        if isinstance(floor, FloorDiv):
            remainder = floor.numerator - floor.denominator * Dim.atom(floor)
            for signed in (equation, -equation):
                rest = (remainder - signed).constant
                divisor = floor.denominator.constant
                if rest == 0 or (rest is not None and divisor is not None and 0 < rest < divisor):
                    return floor.numerator - rest, floor.denominator
    return None
