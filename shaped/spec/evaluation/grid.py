"""Numbers for all places of some indices: an array with one axis for each index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.scalars.system import Array, Reason, Reasons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.spec.index import Index


def in_order(indices: frozenset[Index] | set[Index]) -> tuple[Index, ...]:
    """Indices in the order in which grids have their axes: the order in which they were made."""
    return tuple(sorted(indices, key=lambda index: int(index.scope)))


@dataclass(frozen=True)
class Grid:
    """Numbers, ints or truth values for all places of some indices.

    Args:
        axes: the indices that the axes of `data` stand for, in order.
        data: the numbers; at places without one, any.
        reasons: why there is no number, 0 where there is one; None where there is one everywhere.
        infinite: 1 or -1 at places with an infinity; None if there are none.
    """

    axes: tuple[Index, ...]
    data: Array
    reasons: Reasons = None
    infinite: Reasons = None

    def along(self, axes: Sequence[Index]) -> Grid:
        """The same with axes of size 1 for the indices of `axes` that it does not depend on."""
        if tuple(axes) == self.axes:
            return self
        own = iter(self.data.shape)
        shape = tuple(next(own) if index in self.axes else 1 for index in axes)
        return Grid(
            tuple(axes),
            self.data.reshape(shape),
            None if self.reasons is None else np.broadcast_to(self.reasons, self.data.shape).reshape(shape),
            None if self.infinite is None else np.broadcast_to(self.infinite, self.data.shape).reshape(shape),
        )

    def stretched(self, axes: Sequence[Index], shape: tuple[int, ...]) -> Grid:
        """The same as arrays of the whole shape."""
        grid = self.along(axes)
        return Grid(
            grid.axes,
            np.broadcast_to(grid.data, shape),
            None if grid.reasons is None else np.broadcast_to(grid.reasons, shape),
            None if grid.infinite is None else np.broadcast_to(grid.infinite, shape),
        )


def aligned(*grids: Grid) -> tuple[tuple[Index, ...], list[Grid]]:
    """The indices that grids depend on, and the grids along all of them."""
    axes = in_order({index for grid in grids for index in grid.axes})
    return axes, [grid.along(axes) for grid in grids]


def worst(*reasons: Reasons) -> Reasons:
    """The reasons of a value that needs several values."""
    kept = [each for each in reasons if each is not None]
    if not kept:
        return None
    result = kept[0]
    for each in kept[1:]:
        result = np.maximum(result, each)
    return result


def after(earlier: Reasons, own: Reasons) -> Reasons:
    """The reasons of a function's value: its own count only where its argument has a value."""
    return own if earlier is None else worst(earlier, masked(own, earlier == 0))


def masked(reasons: Reasons, mask: Array) -> Reasons:
    """The reasons where `mask` holds, none elsewhere."""
    if reasons is None:
        return None
    kept = np.where(mask, reasons, np.int8(0)).astype(np.int8)
    return kept if kept.any() else None


def because(reason: Reason, mask: Array) -> Reasons:
    """One reason where `mask` holds."""
    return np.where(mask, np.int8(reason), np.int8(0)).astype(np.int8) if mask.any() else None
