"""One walker over the expressions, for every number system: each node once, at all places of its indices together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.evaluation.conditions import Conditions
from shaped.spec.evaluation.grid import Grid
from shaped.spec.evaluation.numbers import Numbers
from shaped.spec.evaluation.order import innermost_first
from shaped.spec.expr import Condition, Node
from shaped.spec.scalars.system import Array, Reason, Reasons, Undecided, Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shaped.spec.atoms import Symbol
    from shaped.spec.index import Index
    from shaped.spec.scalars.system import Scalars


@dataclass(frozen=True)
class Evaluated:
    """The values of an expression, in the order of the indices that were asked for.

    Args:
        data: the values; any number at places without one.
        reasons: the `Reason` for which there is no value, 0 where there is one.
    """

    data: Array
    reasons: Array

    @property
    def is_defined(self) -> Array:
        """Where there is a value."""
        return np.asarray(self.reasons == 0)


class Evaluation:
    """Computes expressions that share sizes, tensors and what is computed on the way.

    Args:
        scalars: the number system.
        sizes: the value of each named size, by symbol or by name.
        values: the tensors that are given, by name: arrays or nested lists of numbers, ints or bools, by the kind of
            the variable. Infinite floats are infinities in every system.
    """

    def __init__(
        self, scalars: Scalars, sizes: Mapping[Symbol, int] | Mapping[str, int], values: Mapping[str, Any]
    ) -> None:
        self.numbers = Numbers(scalars, sizes, values)
        self.conditions: Conditions = self.numbers.conditions

    def __call__(self, node: Node, indices: Sequence[Index]) -> Evaluated:
        """The values of an expression or a condition at all places of the indices.

        Raises:
            ValueError: a size or a tensor has no value, a tensor has another shape than its variable, or an index that
                the expression depends on is not asked for.
        """
        with self.numbers.scalars.computing():
            return self._evaluated(node, indices)

    def _evaluated(self, node: Node, indices: Sequence[Index]) -> Evaluated:
        order = innermost_first(node, self.numbers.definition_of)
        missing = [each.free for each in order][-1] - set(indices)  # each from those of its parts
        if missing:
            names = ", ".join(sorted(index.name for index in missing))
            raise ValueError(f"the expression depends on {names}, which the requested indices lack")
        for index in indices:
            if self.numbers.places(index.size).axes:
                raise ValueError(f"the number of places of {index} depends on other indices: {index.size}")
        for each in order:
            grid = self.conditions(each) if isinstance(each, Condition) else self.numbers(each)
        shape = tuple(self.numbers.places.extent(index) for index in indices)
        own = [index for index in indices if index in grid.axes]
        turn = [grid.axes.index(index) for index in own]
        data, reasons = (
            self._placed(each, turn, own, indices, shape) for each in (self._with_infinities(grid), grid.reasons)
        )
        return Evaluated(data, reasons)

    def _with_infinities(self, grid: Grid) -> Array:
        if grid.infinite is None:
            return grid.data
        scalars = self.numbers.scalars
        data = np.array(np.broadcast_to(grid.data, np.broadcast_shapes(grid.data.shape, grid.infinite.shape)))
        for sign in (1, -1):
            data[np.broadcast_to(grid.infinite, data.shape) == sign] = scalars.infinity(sign)
        return data

    @staticmethod
    def _placed(
        array: Reasons | Array,
        turn: list[int],
        own: Sequence[Index],
        indices: Sequence[Index],
        shape: tuple[int, ...],
    ) -> Array:
        if array is None:
            return np.zeros(shape, dtype=np.int8)
        turned = array.transpose(turn)
        sizes = iter(turned.shape)
        return np.broadcast_to(turned.reshape([next(sizes) if index in own else 1 for index in indices]), shape)


def evaluate_where_defined(
    node: Node,
    indices: Sequence[Index],
    scalars: Scalars,
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
) -> Evaluated:
    """The values of an expression or a condition, and at which places there are none and why.

    See `Evaluation` for the arguments.
    """
    return Evaluation(scalars, sizes, values)(node, indices)


def evaluate(
    node: Node,
    indices: Sequence[Index],
    scalars: Scalars,
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
) -> Array:
    """The values of an expression, or a condition, at all places of the indices, one axis for each.

    See `Evaluation` for the arguments.

    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.expr import Sum, Variable
    >>> from shaped.spec.index import fresh_index
    >>> from shaped.spec.scalars.fractions import Fractions
    >>> m, n = Dim.name("m"), Dim.name("n")
    >>> x, i, j = Variable("x", (m, n)), fresh_index(m), fresh_index(n)
    >>> rows = evaluate(Sum(j, x[i.dim, j.dim]), [i], Fractions(), {"m": 2, "n": 3}, {"x": [[1, 2, 3], [4, 5, 6]]})
    >>> print(*rows)
    6 15

    Raises:
        Undefined: there is no value at some place: which, and why.
        Undecided: a comparison cannot be decided in this system.
        ValueError: a size or a tensor has no value, or has another shape than its variable says.
    """
    result = evaluate_where_defined(node, indices, scalars, sizes, values)
    if result.reasons.any():
        at = np.unravel_index(int(np.argmax(result.reasons)), result.reasons.shape)
        reason = Reason(int(result.reasons[at]))
        place = ", ".join(f"{index.name} = {value}" for index, value in zip(indices, at))
        raise (Undecided if reason is Reason.UNDECIDED else Undefined)(reason, place)
    return result.data
