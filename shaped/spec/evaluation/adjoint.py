"""Gradients of expressions as numbers, in any number system: the chain rule from the result back to the tensors.

It differentiates what was evaluated, node by node, and makes no expression of the gradient. So it is a second source
of gradients, apart from those that are derived as expressions, and in a system with error bounds it bounds the error of
a backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.evaluation.evaluate import Evaluated, Evaluation
from shaped.spec.evaluation.grid import Grid, aligned, in_order, masked, worst
from shaped.spec.evaluation.order import innermost_first
from shaped.spec.evaluation.partials import other_factors, shares
from shaped.spec.evaluation.slopes import slope
from shaped.spec.expr import (
    Add,
    Apply,
    Entry,
    Expr,
    Greatest,
    Multiply,
    Node,
    Power,
    Product,
    Sum,
    Variable,
    Where,
    multiply,
    power,
)
from shaped.spec.scalars.system import Array, Reason, Reasons, Undefined

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shaped.spec.atoms import Symbol
    from shaped.spec.evaluation.numbers import Numbers
    from shaped.spec.index import Index
    from shaped.spec.scalars.system import Scalars


def gradients(
    expr: Expr,
    indices: Sequence[Index],
    upstream: Any,
    of: Collection[str],
    scalars: Scalars,
    sizes: Mapping[Symbol, int] | Mapping[str, int],
    values: Mapping[str, Any],
) -> dict[str, Evaluated]:
    """The gradients of the sum of `upstream * expr` over all places of the indices, by the given tensors.

    The gradient of `max` is split evenly where several are greatest; that of `where` follows the chosen branch.

    Args:
        expr: the expression.
        indices: its indices.
        upstream: a number for each place.
        of: the names of the tensors.
        scalars: the number system.
        sizes: the value of each named size.
        values: the tensors.

    >>> from shaped.spec.dims import Dim
    >>> from shaped.spec.index import fresh_index
    >>> from shaped.spec.scalars.fractions import Fractions
    >>> x, i = Variable("x", (Dim.of(3),)), fresh_index(3)
    >>> found = gradients(x[i.dim] ** 2, [i], [1, 1, 2], ["x"], Fractions(), {}, {"x": [1, 2, 3]})
    >>> print(*found["x"].data)
    2 4 12

    Raises:
        Undefined: the expression has no value at some place.
        ValueError: a size or a tensor has no value, or has another shape than its variable says.
    """
    with scalars.computing():
        evaluation = Evaluation(scalars, sizes, values)
        forward = evaluation(expr, indices)
        if forward.reasons.any():
            raise Undefined(Reason(int(forward.reasons.max())))
        sweep = _Sweep(evaluation.numbers, frozenset(of))
        return sweep(expr, indices, scalars.array(upstream).reshape(forward.data.shape))


@dataclass(frozen=True)
class _Cotangent:
    """The derivatives of the result by the numbers of a grid; 0 wherever `live` is False, whatever else fails there."""

    grid: Grid
    live: Array

    @property
    def axes(self) -> tuple[Index, ...]:
        return self.grid.axes


class _Sweep:
    """One pass from a result back to the tensors."""

    def __init__(self, numbers: Numbers, of: frozenset[str]) -> None:
        self.numbers = numbers
        self.scalars = numbers.scalars
        self.of = of
        self._dependent: set[Node | None] = set()
        self._defined: dict[Node, dict[Variable, None]] = {}  # the tensors that are computed from a node
        self._cotangents: dict[Node, _Cotangent] = {}
        self._tensors: dict[str, tuple[Array, Array]] = {}
        self._zero = self.scalars.constant_of(0)

    def __call__(self, expr: Expr, indices: Sequence[Index], upstream: Array) -> dict[str, Evaluated]:
        order = innermost_first(expr, self._definition_of)
        self._find_dependent(order)
        axes = in_order(set(indices))
        turned = upstream.transpose([list(indices).index(index) for index in axes])
        self._add(expr, _Cotangent(Grid(axes, turned), np.ones(turned.shape, dtype=bool)))
        found: dict[str, Evaluated] = {}
        for node in reversed(order):
            # All reads of a tensor stand before what it is computed from.
            for variable in self._defined.get(node, ()):
                self._define(variable)
            cotangent = self._cotangents.pop(node, None)
            if cotangent is not None and isinstance(node, Expr):
                self._pass_on(node, cotangent)
        for name, (data, reasons) in self._tensors.items():
            if name in self.of:
                found[name] = Evaluated(data, reasons)
        for name in self.of - set(found):
            shape = np.asarray(self.numbers.given(name)).shape
            found[name] = Evaluated(self.scalars.full(shape, self._zero), np.zeros(shape, dtype=np.int8))
        return found

    def _definition_of(self, variable: Variable) -> Expr | None:
        """What the gradient by an intermediate tensor is passed on to."""
        return None if variable.name in self.of else self.numbers.definition_of(variable)

    def _find_dependent(self, order: list[Node]) -> None:
        """Find the nodes that depend on one of the tensors that gradients are asked by."""
        for node in order:
            if isinstance(node, Entry):
                body = self._definition_of(node.variable)
                depends = node.variable.name in self.of or body in self._dependent
                if body is not None:
                    self._defined.setdefault(body, {})[node.variable] = None
            else:
                depends = any(isinstance(part, Expr) and part in self._dependent for part in node.parts())
            if depends:
                self._dependent.add(node)

    def _add(self, node: Node, cotangent: _Cotangent) -> None:
        """Add to the cotangent of a node, summed over the indices that it does not depend on."""
        if node not in self._dependent:
            return
        axes = self.numbers(node).axes
        cotangent = self._summed(cotangent, axes)
        earlier = self._cotangents.get(node)
        if earlier is not None:
            grid = Grid(
                axes,
                self.scalars.add(earlier.grid.data, cotangent.grid.data),
                worst(earlier.grid.reasons, cotangent.grid.reasons),
            )
            cotangent = _Cotangent(grid, earlier.live | cotangent.live)
        self._cotangents[node] = cotangent

    def _summed(self, cotangent: _Cotangent, axes: tuple[Index, ...]) -> _Cotangent:
        """A cotangent over other axes: summed over those that are left out, repeated along those that are new."""
        every = in_order({*axes, *cotangent.axes})
        shape = tuple(self.numbers.places.extent(index) for index in every)
        grid = cotangent.grid.stretched(every, shape)
        live = np.broadcast_to(Grid(cotangent.axes, cotangent.live).along(every).data, shape)
        data = np.where(live, grid.data, self.scalars.full((), self._zero))
        reasons = masked(grid.reasons, live)
        for axis in reversed(range(len(every))):
            if every[axis] not in axes:
                if data.shape[axis]:
                    data = self.scalars.total(data, axis)
                else:
                    data = self.scalars.full(data.shape[:axis] + data.shape[axis + 1 :], self._zero)
                live = np.asarray(live.any(axis=axis))
                reasons = None if reasons is None else reasons.max(axis=axis, initial=0)
        return _Cotangent(Grid(axes, np.asarray(data, dtype=self.scalars.dtype), reasons), np.asarray(live))

    def _times(self, cotangent: _Cotangent, factor: Grid, vanishes: Grid | None = None) -> _Cotangent:
        """A cotangent multiplied by a slope, which needs no value where the cotangent is 0 by its brackets."""
        axes, (left, right) = aligned(cotangent.grid, factor)
        live: Array = Grid(cotangent.axes, cotangent.live).along(axes).data
        if vanishes is not None:
            live = live & ~vanishes.along(axes).data
        data = self.scalars.multiply(left.data, right.data)
        infinite: Reasons = None
        if right.infinite is not None:
            infinite = np.where(right.infinite != 0, np.int8(Reason.INDETERMINATE), np.int8(0))
        live = np.broadcast_to(live, data.shape)
        reasons = masked(worst(left.reasons, right.reasons, infinite), live)
        return _Cotangent(self.numbers.grid(axes, data, reasons), live)

    def _pass_on(self, node: Expr, cotangent: _Cotangent) -> None:
        """Add to the cotangents of what a node is made of."""
        match node:
            case Add(terms):
                for term in terms:
                    self._add(term, cotangent)
            case Multiply(factors):
                for number, factor in enumerate(factors):
                    if factor in self._dependent:
                        others = multiply(*factors[:number], *factors[number + 1 :])
                        self._add(factor, self._times(cotangent, self.numbers(others), self.numbers.vanishing(others)))
            case Power(base, exponent):
                by = multiply(_number(exponent), power(base, exponent - 1))
                self._add(base, self._times(cotangent, self.numbers(by)))
            case Apply(function, argument):
                steepness = slope(function, argument)
                if steepness is not None:
                    self._add(argument, self._times(cotangent, self.numbers(steepness)))
            case Sum(index, body):
                self._add(body, self._spread(cotangent, index))
            case Product(index, body):
                self._add(body, self._times(self._spread(cotangent, index), other_factors(self.numbers, index, body)))
            case Greatest(index, body):
                self._add(body, self._times(self._spread(cotangent, index), shares(self.numbers, index, body)))
            case Where(condition, then, otherwise):
                chosen = self.numbers.conditions(condition)
                for branch, mask in ((then, chosen.data), (otherwise, ~chosen.data)):
                    self._add(branch, self._masked(cotangent, Grid(chosen.axes, np.asarray(mask), chosen.reasons)))
            case Entry(variable, at):
                self._scatter(variable, [self.numbers.places(place) for place in at], cotangent)

    def _masked(self, cotangent: _Cotangent, mask: Grid) -> _Cotangent:
        """A cotangent where a condition holds, 0 elsewhere."""
        axes, (grid, chosen) = aligned(cotangent.grid, mask)
        live = Grid(cotangent.axes, cotangent.live).along(axes).data & chosen.data
        data = np.broadcast_to(grid.data, live.shape)
        return _Cotangent(Grid(axes, data, masked(worst(grid.reasons, chosen.reasons), live)), np.asarray(live))

    def _spread(self, cotangent: _Cotangent, index: Index) -> _Cotangent:
        """A cotangent repeated along an index that was bound, where that is in range."""
        grid, inside, _ = self.numbers.over(index, cotangent.grid)
        live = Grid(cotangent.axes, cotangent.live).along(grid.axes).data & inside
        return _Cotangent(grid, np.asarray(live))

    def _scatter(self, variable: Variable, at: list[Grid], cotangent: _Cotangent) -> None:
        """Add a cotangent to the entries of a tensor that were read."""
        if variable.name not in self.of and self._definition_of(variable) is None:
            return
        shape = tuple(int(self.numbers.places(size).data) for size in variable.sizes)
        if variable.name not in self._tensors:
            self._tensors[variable.name] = self.scalars.full(shape, self._zero), np.zeros(shape, dtype=np.int8)
        data, reasons = self._tensors[variable.name]
        axes, aligned_places = aligned(cotangent.grid, *at)
        full = np.broadcast_shapes(*(place.data.shape for place in aligned_places))
        live = np.broadcast_to(Grid(cotangent.axes, cotangent.live).along(axes).data, full)
        places = tuple(np.broadcast_to(place.data, full)[live] for place in aligned_places[1:])
        flat: Any = np.ravel_multi_index(places, shape) if shape else np.zeros(int(live.sum()), dtype=np.int64)
        np.add.at(data.reshape(-1), flat, np.broadcast_to(aligned_places[0].data, full)[live])
        why = cotangent.grid.along(axes).reasons
        if why is not None:
            np.maximum.at(reasons.reshape(-1), flat, np.broadcast_to(why, full)[live])

    def _define(self, variable: Variable) -> None:
        """Pass the cotangent of an intermediate on to its definition."""
        assert variable.definition is not None
        if variable.name not in self._tensors:
            return
        indices, body = variable.definition
        data, reasons = self._tensors.pop(variable.name)
        axes = in_order(set(indices))
        turn = [indices.index(index) for index in axes]
        shape = tuple(self.numbers.places.extent(index) for index in indices)
        grid = Grid(axes, data.reshape(shape).transpose(turn), reasons.reshape(shape).transpose(turn))
        self._add(body, _Cotangent(grid, np.ones(grid.data.shape, dtype=bool)))


def _number(value: Fraction) -> Expr:
    from shaped.spec.expr import Constant

    return Constant(value)
