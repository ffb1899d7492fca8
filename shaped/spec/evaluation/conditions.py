"""Conditions at all places of their indices, as arrays of truth values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.evaluation.grid import Grid, after, aligned, masked, worst
from shaped.spec.expr import (
    Both,
    Exists,
    Flag,
    IndexNonnegative,
    IndexZero,
    Node,
    Not,
    Positive,
    Truth,
    Zero,
)

if TYPE_CHECKING:
    from shaped.spec.evaluation.numbers import Numbers
    from shaped.spec.expr import Expr
    from shaped.spec.scalars.system import Array


class Conditions:
    """Computes conditions. Both sides of `and` need a value only where the other side does not settle it."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._done: dict[Node, Grid] = {}

    def __call__(self, node: Node) -> Grid:
        """The truth value at all places of the free indices."""
        grid = self._done.get(node)
        if grid is None:
            grid = self._done[node] = self._computed(node)
        return grid

    def sides(self) -> dict[Positive, set[bool]]:
        """For each comparison of a number so far the answers that it gave at some place."""
        found: dict[Positive, set[bool]] = {}
        for node, grid in self._done.items():
            if isinstance(node, Positive):
                defined = grid.data if grid.reasons is None else grid.data[grid.reasons == 0]
                found[node] = {bool(each) for each in np.unique(defined)}
        return found

    def _computed(self, node: Node) -> Grid:
        numbers = self._numbers
        match node:
            case Truth(value):
                return Grid((), np.asarray(value))
            case Flag(variable, at):
                return numbers.places.entries(numbers.flags(variable), [numbers.places(place) for place in at])
            case Positive(argument):
                sign = self._sign(argument)
                return Grid(sign.axes, sign.data > 0, sign.reasons)
            case Zero(argument):
                sign = self._sign(argument)
                return Grid(sign.axes, sign.data == 0, sign.reasons)
            case IndexNonnegative(dim):
                place = numbers.places(dim)
                return Grid(place.axes, place.data >= 0, place.reasons)
            case IndexZero(dim):
                place = numbers.places(dim)
                return Grid(place.axes, place.data == 0, place.reasons)
            case Not(condition):
                inner = self(condition)
                return Grid(inner.axes, ~inner.data, inner.reasons)
            case Both(left, right):
                axes, (first, second) = aligned(self(left), self(right))
                fails = self._fails(first) | self._fails(second)
                reasons = masked(worst(first.reasons, second.reasons), ~fails)
                return Grid(axes, np.asarray(first.data & second.data & ~fails), reasons)
            case Exists(index, condition):
                body, inside, axis = numbers.over(index, self(condition))
                defined = inside if body.reasons is None else inside & (body.reasons == 0)
                found = np.asarray((body.data & defined).any(axis=axis))
                reasons = None
                if body.reasons is not None:
                    reasons = masked(np.where(inside, body.reasons, np.int8(0)).max(axis=axis, initial=0), ~found)
                return Grid(tuple(each for each in body.axes if each != index), found, reasons)
        raise TypeError(f"{type(node).__name__} is no condition")

    def _sign(self, argument: Expr) -> Grid:
        numbers = self._numbers
        grid = numbers(argument)
        signs, reasons = numbers.scalars.sign(grid.data)
        if grid.infinite is not None:
            finite = grid.infinite == 0
            signs, reasons = np.where(finite, signs, grid.infinite), masked(reasons, finite)
        return Grid(grid.axes, signs, after(grid.reasons, reasons))

    @staticmethod
    def _fails(grid: Grid) -> Array:
        """Where a condition has a value, and that is no."""
        return np.asarray(~grid.data if grid.reasons is None else ~grid.data & (grid.reasons == 0))
