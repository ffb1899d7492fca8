"""Shapes: the sizes of a tensor's axes, with at most one pack of axes whose number is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from shaped.spec.dims import Dim, DimLike, Kind, Symbol, product


@dataclass(frozen=True)
class Pack:
    """Any number of axes: `*name` or `...` of an annotation, or axes that were not followed.

    The same pack is the same axes: equal to itself, and to nothing else for certain.
    """

    name: str
    kind: Kind = Kind.NAME
    scope: str = ""

    def __str__(self) -> str:
        return "..." if self.kind is Kind.UNKNOWN or not self.name else f"*{self.name}"


Axis = Dim | Pack


@dataclass(frozen=True)
class Shape:
    """The axes of a tensor, in order: sizes and at most one `Pack`.

    >>> b = Dim.name("b")
    >>> print(Shape.of(b, 3) , Shape.of(Pack("batch"), b))
    (b, 3) (*batch, b)
    """

    axes: tuple[Axis, ...]
    pack: Pack | None = field(init=False, compare=False, repr=False)  # the one among the axes, which all ask for

    def __post_init__(self) -> None:
        packs = [axis for axis in self.axes if isinstance(axis, Pack)]
        assert len(packs) <= 1, "a shape holds one pack at most"
        object.__setattr__(self, "pack", packs[0] if packs else None)

    @staticmethod
    def of(*axes: Axis | int) -> Shape:
        """The shape with these axes."""
        return Shape(tuple(axis if isinstance(axis, Pack) else Dim.of(axis) for axis in axes))

    @property
    def rank(self) -> int | None:
        """The number of axes, None if there is a pack."""
        return None if self.pack is not None else len(self.axes)

    @property
    def least_rank(self) -> int:
        """The number of axes that are there for certain."""
        return len(self.head) + len(self.tail)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The sizes of all axes, in order. Only for a shape of known rank."""
        assert self.pack is None, f"{self} has no known rank"
        return cast("tuple[Dim, ...]", self.axes)

    @property
    def head(self) -> tuple[Dim, ...]:
        """The axes before the pack; all axes if there is none."""
        return tuple(self._dims_until_pack(iter(self.axes))) if self.pack is not None else self.dims

    @property
    def tail(self) -> tuple[Dim, ...]:
        """The axes after the pack; none if there is no pack."""
        if self.pack is None:
            return ()
        return tuple(reversed(list(self._dims_until_pack(reversed(self.axes)))))

    @staticmethod
    def _dims_until_pack(axes: Iterator[Axis]) -> Iterator[Dim]:
        for axis in axes:
            if isinstance(axis, Pack):
                return
            yield axis

    def at(self, index: int) -> Dim | None:
        """The size of axis `index` (negative counts from the end), None where the pack hides it.

        >>> print(Shape.of(Pack("batch"), 3, 4).at(-1), Shape.of(Pack("batch"), 3).at(0))
        4 None
        """
        known = self.head if index >= 0 or self.pack is None else self.tail
        return known[index] if -len(known) <= index < len(known) else None

    def position(self, index: int) -> int | None:
        """Where axis `index` stands in `axes`, None where the pack hides it."""
        if self.at(index) is None:
            return None
        return index if index >= 0 else len(self.axes) + index

    def replace(self, index: int, *axes: Axis | int) -> Shape:
        """The shape with axis `index` replaced by `axes`: none to drop it, several to split it."""
        i = self.position(index)
        assert i is not None, f"axis {index} of {self} is not known"
        return Shape.of(*self.axes[:i], *axes, *self.axes[i + 1 :])

    @property
    def numel(self) -> Dim | None:
        """The number of elements, None for an unknown rank."""
        return product(self.dims) if self.rank is not None else None

    def symbols(self) -> frozenset[Symbol]:
        """Every named size that it depends on."""
        return frozenset().union(*(axis.symbols() for axis in self.axes if isinstance(axis, Dim)))

    @property
    def is_known(self) -> bool:
        """Whether rank and every size are known."""
        return self.rank is not None and self.has_known_sizes

    @property
    def has_known_axes(self) -> bool:
        """Whether the axes are known: how many there are, or that some are the `*name` of an annotation."""
        return self.pack is None or self.pack.kind is Kind.NAME

    @property
    def has_known_sizes(self) -> bool:
        """Whether all sizes beside a pack are known."""
        return not any(symbol.is_fresh for symbol in self.symbols())

    def __add__(self, other: Shape) -> Shape:
        return Shape(self.axes + other.axes)

    def __str__(self) -> str:
        if self.rank == 1:
            return f"({self.axes[0]},)"
        return f"({', '.join(map(str, self.axes))})"

    def annotation(self) -> str:
        """The shape as jaxtyping writes it: `b 10`, `_` for an unknown size, `...` for unknown axes.

        >>> Shape.of(Dim.name("b"), 10).annotation()
        'b 10'
        """
        return " ".join(str(axis).replace(" ", "") for axis in self.axes)


def sizes(*dims: DimLike) -> tuple[Dim, ...]:
    """`dims` as a tuple of `Dim`."""
    return tuple(Dim.of(dim) for dim in dims)
