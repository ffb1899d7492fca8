"""Index expressions (`Dim`) at all places of their indices, as arrays of ints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.atoms import FloorDiv, Kind, Symbol
from shaped.spec.evaluation.grid import Grid, aligned, because, worst
from shaped.spec.index import Index, Lookup
from shaped.spec.scalars.system import Array, Reason, Reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shaped.spec.atoms import Atom
    from shaped.spec.dims import Dim


class Places:
    """Computes index expressions for given sizes and integer tensors.

    Args:
        sizes: the value of each named size, by symbol or by name.
        integers: the values of the integer tensors, by name.
    """

    def __init__(self, sizes: Mapping[Symbol, int] | Mapping[str, int], integers: Callable[[str], Array]) -> None:
        self._sizes: dict[Symbol | str, int] = dict(sizes.items())
        self._integers = integers
        self._done: dict[Dim, Grid] = {}
        self._extents: dict[Index, int] = {}

    def __call__(self, dim: Dim) -> Grid:
        """The value of an index expression at all places of its indices."""
        grid = self._done.get(dim)
        if grid is None:
            grid = self._done[dim] = self._computed(dim)
        return grid

    def extent(self, index: Index) -> int:
        """The number of places of an index; the greatest one, where its size depends on other indices."""
        extent = self._extents.get(index)
        if extent is None:
            sizes = self(index.size)
            if sizes.reasons is not None and sizes.reasons.any():
                raise ValueError(f"the size {index.size} of the index {index} has no value for the given sizes")
            extent = self._extents[index] = max(0, int(sizes.data.max(initial=0)))
        return extent

    def _computed(self, dim: Dim) -> Grid:
        terms = []
        for monomial, coefficient in dim.terms:
            term = Grid((), np.asarray(coefficient, dtype=np.int64))
            for atom, power in monomial:
                axes, (left, right) = aligned(term, self._atom(atom))
                term = Grid(axes, np.asarray(left.data * right.data**power), worst(left.reasons, right.reasons))
            terms.append(term)
        if not terms:
            return Grid((), np.asarray(0, dtype=np.int64))
        axes, grids = aligned(*terms)
        data: Array = np.asarray(sum(grid.data for grid in grids))
        reasons: Reasons = worst(*(grid.reasons for grid in grids))
        return Grid(axes, data, None if reasons is None else np.broadcast_to(reasons, data.shape))

    def _atom(self, atom: Atom) -> Grid:
        match atom:
            case Index():
                return Grid((atom,), np.arange(self.extent(atom), dtype=np.int64))
            case Lookup(name=name, at=at):
                return self.entries(self._integers(name), [self(place) for place in at])
            case Symbol():
                return Grid((), np.asarray(self._size(atom), dtype=np.int64))
            case FloorDiv(numerator, denominator):
                axes, (top, bottom) = aligned(self(numerator), self(denominator))
                by_zero = because(Reason.DIVISION, bottom.data == 0)
                quotient = top.data // np.where(bottom.data == 0, 1, bottom.data)
                return Grid(axes, quotient, worst(top.reasons, bottom.reasons, by_zero))
        axes, grids = aligned(*(self(choice) for choice in atom.choices))
        data = grids[0].data
        for grid in grids[1:]:
            data = np.minimum(data, grid.data)
        return Grid(axes, data, worst(*(grid.reasons for grid in grids)))

    def _size(self, symbol: Symbol) -> int:
        value = self._sizes.get(symbol, self._sizes.get(symbol.name))
        if value is None:
            if symbol.kind is Kind.UNKNOWN:
                raise ValueError(f"the size {symbol.name} was not followed, so an expression with it has no value")
            raise ValueError(f"no value is given for the size {symbol.name}: give one in `sizes`")
        return value

    @staticmethod
    def entries(array: Array, at: list[Grid]) -> Grid:
        """The entries of an array; places beyond its ends have none and are not read."""
        if len(at) != array.ndim:
            raise ValueError(f"a tensor of {array.ndim} axes is read at {len(at)} places")
        if not at:
            return Grid((), array)
        axes, places = aligned(*at)
        shape = np.broadcast_shapes(*(place.data.shape for place in places))
        beyond = np.zeros(shape, dtype=bool)
        for place, size in zip(places, array.shape):
            beyond |= (place.data < 0) | (place.data >= size)
        reasons = worst(because(Reason.OUT_OF_RANGE, beyond), *(place.reasons for place in places))
        if reasons is not None:
            reasons = np.broadcast_to(reasons, shape)
        if 0 in array.shape:
            return Grid(axes, np.zeros(shape, dtype=array.dtype), reasons)
        data = array[tuple(np.clip(place.data, 0, size - 1) for place, size in zip(places, array.shape))]
        return Grid(axes, np.broadcast_to(data, shape), reasons)
