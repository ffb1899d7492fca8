"""Special points: the values at which gradients and kernels go wrong, and that random numbers never meet.

Each is a change to some rows of a tensor that was drawn: the entries along one axis, at every place of the others. So a
failing example shrinks by leaving the change out, while its entries stay as they are.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from shaped.verify.signature import NumberKind

LARGE = 1024.0  # exp of it is infinite in every dtype, its square is finite in all but float16
TINY = 2.0**-30  # vanishes beside any usual eps; its square is a normal float32
_UNEVEN = 0.7310585786300049  # no dyadic number: products and sums of it are rounded


@dataclass(frozen=True)
class SpecialPoint:
    """A change to rows, given as a matrix of float64, complex128, int64 or bool.

    Args:
        name: what the rows are then.
        change: the changed rows.
        kinds: the kinds of numbers that it is for.
        weight: how often it is drawn beside the others.
        of_whole: it is about all entries, not about rows.
        has_infinities: it is for tensors that may hold -inf.
    """

    name: str
    change: Callable[[Tensor], Tensor]
    kinds: tuple[NumberKind, ...]
    weight: int = 1
    of_whole: bool = False
    has_infinities: bool = False


class Rows(enum.Enum):
    """The rows that a special point is at: all, or one of them."""

    ALL = (None, None)
    FIRST = (0, 1)
    LAST = (-1, None)


@dataclass(frozen=True)
class Application:
    """A special point at some rows of a tensor. It means the same for every shape, so that sizes shrink alone.

    Args:
        point: what the rows become.
        axis: the axis along which a row lies, counted from the last; where there are fewer axes, from the last again.
        rows: which rows.
    """

    point: SpecialPoint
    axis: int = 0
    rows: Rows = Rows.ALL

    def __call__(self, x: Tensor) -> Tensor:
        """The changed tensor.

        >>> zero_row = Application(next(one for one in SPECIAL_POINTS if one.name == "zeros"), rows=Rows.FIRST)
        >>> zero_row(torch.ones(2, 3)).tolist()
        [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
        """
        if not x.numel():
            return x
        if self.point.of_whole or not x.ndim:
            return self.point.change(x.reshape(1, -1)).reshape(-1).reshape(x.shape).contiguous()
        axis = -1 - self.axis % x.ndim
        moved = x.movedim(axis, -1)
        matrix = moved.reshape(-1, moved.shape[-1]).clone()
        rows = slice(*self.rows.value)
        matrix[rows] = self.point.change(matrix[rows])
        changed = matrix.reshape(moved.shape).movedim(-1, axis)
        # Through a vector, for the usual strides of axes of size 1 too.
        return changed.reshape(-1).reshape(x.shape)


def _equal(rows: Tensor) -> Tensor:
    return rows[:, :1].expand_as(rows)


def _uneven(rows: Tensor) -> Tensor:
    """All entries different, and none of them exact."""
    order = torch.arange(rows.numel(), dtype=torch.float64).reshape(rows.shape)
    return (rows + order / (8 * rows.numel())) * _UNEVEN


_REAL: tuple[NumberKind, ...] = ("float", "complex")
_NO_INTEGERS: tuple[NumberKind, ...] = ("float", "complex", "bool")  # 0 may be outside their bounds
_ALL: tuple[NumberKind, ...] = ("float", "complex", "int", "bool")

SPECIAL_POINTS = (
    SpecialPoint("equal entries", _equal, _ALL, weight=2),
    SpecialPoint("zeros", torch.zeros_like, _NO_INTEGERS),
    SpecialPoint("equal everywhere", _equal, _ALL, of_whole=True),
    SpecialPoint("large", lambda rows: rows * LARGE, _REAL, weight=2),
    SpecialPoint("tiny", lambda rows: rows * TINY, _REAL, weight=2),
    SpecialPoint("uneven", _uneven, _REAL, of_whole=True),
    SpecialPoint("all true", torch.ones_like, ("bool",)),
    SpecialPoint("all -inf", lambda rows: torch.full_like(rows, -torch.inf), ("float",), has_infinities=True),
)


MOST_AXES = 3
"""The axes that rows lie along, counted from the last."""


def points_of(kind: NumberKind, *, minus_infinity: bool) -> tuple[SpecialPoint, ...]:
    """The special points of tensors with these numbers.

    >>> [point.name for point in points_of("int", minus_infinity=False)]
    ['equal entries', 'equal everywhere']
    """
    return tuple(one for one in SPECIAL_POINTS if kind in one.kinds and (minus_infinity or not one.has_infinities))
