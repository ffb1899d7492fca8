"""Where an expression is 0 by its brackets alone, so that what it is multiplied by needs no value.

`[i < n] * x[i]` is 0 beyond the end of `x`, whatever stands there; but `(y - y) * (1/0)` has no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.evaluation.grid import Grid, aligned
from shaped.spec.expr import Add, Binder, Constant, Multiply, Node, Power, Product, Where

if TYPE_CHECKING:
    from shaped.spec.evaluation.numbers import Numbers


class Vanishing:
    """Tells where expressions are 0 by their brackets."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._done: dict[Node, Grid] = {}

    def __call__(self, node: Node) -> Grid:
        """A truth value at all places of the free indices."""
        grid = self._done.get(node)
        if grid is None:
            grid = self._done[node] = self._computed(node)
        return grid

    def _computed(self, node: Node) -> Grid:
        match node:
            case Constant(value):
                return Grid((), np.asarray(value == 0))
            case Power(base, exponent) if exponent > 0:
                return self(base)
            case Add(parts) | Multiply(parts):
                axes, grids = aligned(*(self(part) for part in parts))
                join = np.logical_and if isinstance(node, Add) else np.logical_or
                result = grids[0].data
                for grid in grids[1:]:
                    result = join(result, grid.data)
                return Grid(axes, np.asarray(result))
            case Where(condition, then, otherwise):
                axes, (chosen, first, second) = aligned(
                    self._numbers.conditions(condition), self(then), self(otherwise)
                )
                result = np.where(chosen.data, first.data, second.data)
                return Grid(axes, result if chosen.reasons is None else result & (chosen.reasons == 0))
            case Binder(index, body):
                whole, inside, axis = self._numbers.over(index, self(body))
                axes = tuple(each for each in whole.axes if each != index)
                if isinstance(node, Product):
                    return Grid(axes, np.asarray((whole.data & inside).any(axis=axis)))
                return Grid(axes, np.asarray((whole.data | ~inside).all(axis=axis)))
        return Grid((), np.asarray(False))
