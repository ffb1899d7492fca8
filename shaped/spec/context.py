"""The path on which an operation is applied: what is known there, what has to hold, what is assumed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shaped.errors import Fault, ShapeError
from shaped.spec.axis_roles import are_batch_and_features
from shaped.spec.dims import Dim, DimLike, Kind, Symbol
from shaped.spec.divisible import divisions, holds_if_divisible
from shaped.spec.dtypes import ANY_DTYPE, DType
from shaped.spec.facts import Facts, Status, Verdict
from shaped.spec.settings import Settings
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import TensorType, Value


@dataclass
class Context:
    """One path: its facts, and whether a condition that only some named sizes satisfy is an error on it.

    Args:
        facts: what is known about sizes here.
        certain: False where paths were joined or a condition was not understood: a SOMETIMES becomes an assumption.
        guarded: whether it is under a condition that was not understood.
        repeats: whether it stands for all rounds of a loop, and was clear when the loop began.
        defaults: the values that callers' ints have when they are not given: code that holds for them is no error.
        settings: what the program sets for all tensors: the default device, whether dtypes are cast behind its back.
        found: faults that do not stop the program: code that runs and means something else (`shape-squeeze`).
        assumptions: what was assumed, in the user's names; the caller attaches lines.
    """

    facts: Facts = field(default_factory=Facts)
    certain: bool = True
    guarded: bool = False
    repeats: bool = False
    assumptions: list[str] = field(default_factory=list)
    defaults: dict[Symbol, Dim] = field(default_factory=dict)
    found: list[Fault] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def is_clear(self) -> bool:
        """Whether what runs and is wrong is said here: the path is certain, or uncertain only because it stands for all
        rounds of a loop. A tensor that rounds change counts as joined."""
        return self.certain or (self.repeats and not self.guarded)

    def fresh(self, low: int | None = 0, *, name: str = "") -> Dim:
        """A size that was not followed, at least `low`; printed as `name` if an annotation names it."""
        number = next(self._numbers)
        symbol = Symbol(name, Kind.UNKNOWN, str(number), low) if name else Symbol(f"_{number}", Kind.UNKNOWN, low=low)
        return Dim.atom(symbol)

    def count(self) -> int:
        """A number less than those of all fresh sizes to come."""
        return next(self._numbers)

    def fresh_pack(self) -> Pack:
        """Axes that were not followed."""
        return Pack(f"_{next(self._numbers)}", Kind.UNKNOWN)

    def ranked(self, shape: Shape, rank: int) -> Shape:
        """The shape as one that is seen to have `rank` axes: so has each other that its unknown axes stand in.

        The sizes that were hidden are fresh ones, the same on every path that learns the rank.
        """
        shape = self.facts.seen(shape)
        pack, count = shape.pack, rank - shape.least_rank
        if pack is None or count < 0:
            return shape
        if pack.kind is Kind.UNKNOWN:
            hidden = tuple(_hidden(pack, f"{i} of {count}") for i in range(count))
            self.facts = self.facts.with_axes(pack, hidden)
        else:
            hidden = tuple(self.fresh() for _ in range(count))
        return Shape((*shape.head, *hidden, *shape.tail))

    def with_ends(self, shape: Shape, before: int, after: int) -> Shape:
        """The shape as one that is seen to have at least `before + after` axes: the sizes at its ends have names."""
        shape = self.facts.seen(shape)
        pack, count = shape.pack, before + after - shape.least_rank
        if pack is None or pack.kind is not Kind.UNKNOWN or count <= 0:
            return shape
        # Axes before the pack may be among the last ones that are asked for, and those behind it among the first.
        front = min(max(before - len(shape.head), 0), count)
        back = min(max(after - len(shape.tail), 0), count)
        axes: tuple[Dim | Pack, ...] = (
            *(_hidden(pack, str(i)) for i in range(front)),
            Pack(pack.name, Kind.UNKNOWN, f"{pack.scope}[{front}:-{back}]"),
            *(_hidden(pack, str(i)) for i in range(-back, 0)),
        )
        self.facts = self.facts.with_axes(pack, axes)
        return self.facts.seen(shape)

    def unknown_tensor(self, dtype: DType = ANY_DTYPE) -> TensorType:
        """A tensor of which at most the dtype is known."""
        return TensorType(Shape.of(self.fresh_pack()), dtype)

    def is_equal(self, a: DimLike, b: DimLike) -> bool:
        """Whether a == b for all sizes."""
        return self.facts.compare(a, b).status is Status.PROVED

    def is_never_equal(self, a: DimLike, b: DimLike) -> bool:
        """Whether no sizes satisfy a == b."""
        return self.facts.compare(a, b).status is Status.NEVER

    def is_at_least(self, a: DimLike, b: DimLike) -> bool:
        """Whether a >= b for all sizes."""
        return self.facts.at_least(a, b).status is Status.PROVED

    def require_equal(
        self, a: DimLike, b: DimLike, fault: Callable[[], Fault], *, among: Sequence[tuple[Dim, ...]] = ()
    ) -> Dim:
        """Demand a == b and give the size that both are, the better known of the two.

        `among` are the axes of the operands. A dim name is not taken to be a caller's int that the same operand has at
        another axis: `(batch, time, d_model)` does not fit where `d_model` has to stand at axis 1. Nor is a batch taken
        to be a caller's number of features.

        Raises:
            Fault: `fault()` with the sizes for which it fails, when no sizes satisfy it or, on a certain path, when
                only some do.
        """
        a, b = Dim.of(a), Dim.of(b)
        verdict = self.facts.compare(a, b)
        if verdict.status is Status.SOMETIMES and self._holds_by_default(a, b):
            self.assumptions.append(f"{a} == {b}")
        elif verdict.status is Status.SOMETIMES and holds_if_divisible(self.facts.normalize(a - b)):
            self._assume_divisible(a, b)
        else:
            if verdict.status is Status.ASSUMABLE and self._are_unlike(a, b, among):
                verdict = self._fails_elsewhere(a, b)
            self._require(verdict, fault)
        return b if _is_better_known(b, a) else a

    def _are_unlike(self, a: Dim, b: Dim, among: Sequence[tuple[Dim, ...]]) -> bool:
        is_learned = self.facts.normalize(a) != a or self.facts.normalize(b) != b
        if not is_learned and (are_batch_and_features(a, b) or are_batch_and_features(b, a)):
            return True
        return self._stands_elsewhere(a, b, among)

    def _stands_elsewhere(self, a: Dim, b: Dim, among: Sequence[tuple[Dim, ...]]) -> bool:
        for name, other in ((a, b), (b, a)):
            symbol = name.symbol
            if symbol is not None and symbol.kind is Kind.NAME and other.constant is None:
                value = self.facts.normalize(other)
                if any(name in axes and (other in axes or value in axes) for axes in among):
                    return True
        return False

    def _fails_elsewhere(self, a: Dim, b: Dim) -> Verdict:
        symbols = sorted(a.symbols() | b.symbols(), key=lambda symbol: symbol.sort_key)
        return Verdict(Status.SOMETIMES, {str(symbol): 2 + i for i, symbol in enumerate(symbols)})

    def _assume_divisible(self, a: Dim, b: Dim) -> None:
        meant = divisions(self.facts.normalize(a - b))
        for numerator, denominator in meant:
            self.assumptions.append(f"{numerator} % {denominator} == 0")
            self.facts = self.facts.with_exact(numerator, denominator)
        if not meant:
            self.assumptions.append(f"{a} == {b}")

    def require_at_least(self, a: DimLike, b: DimLike, fault: Callable[[], Fault]) -> None:
        """Demand a >= b. Raises like `require_equal`."""
        self._require(self.facts.at_least(a, b), fault)

    def set_default(self, quantity: Dim, default: Dim) -> None:
        """Note the value of a caller's int when it is not given."""
        if quantity.symbol is not None:
            self.defaults[quantity.symbol] = default

    def _holds_by_default(self, a: Dim, b: Dim) -> bool:
        """Whether a == b once every caller's int has its default: `padding=1` goes with `kernel_size=3`."""
        if not self.defaults:
            return False
        difference = self.facts.normalize(a - b)
        return difference.substitute(self.defaults).constant == 0

    def _require(self, verdict: Verdict, fault: Callable[[], Fault]) -> None:
        if verdict.status is Status.NEVER or (verdict.status is Status.SOMETIMES and self.certain):
            raised = fault()
            raised.sizes = raised.sizes or verdict.sizes
            raise raised
        if verdict.status is Status.ASSUMABLE:
            self.assumptions.append(verdict.assumption)
            self.facts = verdict.learned or self.facts

    def axis(self, operation: str, tensor: TensorType, dim: Value, *, new: int = 0) -> int | None:
        """The axis that `dim` names, for a shape with `new` more axes; None if it was not followed.

        It is kept as written (negative from the end), since the rank may be unknown; for a known rank it is
        counted from the front.

        Raises:
            ShapeError: it is out of range.
        """
        if not isinstance(dim, Dim) or dim.constant is None:
            return None
        index, rank = dim.constant, tensor.shape.rank
        if rank is None:
            if not -2 < index < 1:  # dim 0 and -1 of a scalar are allowed
                self.with_ends(tensor.shape, max(index + 1 - new, 0), max(-index - new, 0))
            return index
        # torch gives a scalar one axis here: dim 0 and -1 of it are allowed.
        count = max(rank + new, 1)
        if not -count <= index < count:
            axes = "1 axis" if rank == 1 else f"{rank} axes"
            raise ShapeError(
                operation,
                f"dim {index} is out of range for {axes}",
                str(tensor),
                hint=f"use a dim from {-count} to {count - 1}",
            )
        return index % count


def _hidden(pack: Pack, place: str) -> Dim:
    """The size of an axis of a pack, one that was not followed."""
    return Dim.atom(Symbol(pack.name, Kind.UNKNOWN, f"{pack.scope} {place}", 0))


def _is_better_known(a: Dim, b: Dim) -> bool:
    """Whether `a` says more than `b`: without sizes that were not followed, or with names for all of them."""
    if a.has_unknown:
        return _is_fresh(b) and not _is_fresh(a)
    return b.has_unknown


def _is_fresh(dim: Dim) -> bool:
    return any(symbol.is_fresh for symbol in dim.symbols())
