"""Expressions at all places of their free indices, as arrays of numbers.

A place may have no value (`log(-1)`), which is told only if it is asked for: what `where` does not choose, and what is
multiplied by a bracket that is 0, need no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.evaluation.conditions import Conditions
from shaped.spec.evaluation.grid import Grid, after, aligned, because, in_order, masked, worst
from shaped.spec.evaluation.infinities import (
    infinite_power,
    infinite_product,
    infinite_sum,
    infinite_value,
    infinity_in,
)
from shaped.spec.evaluation.places import Places
from shaped.spec.evaluation.vanishing import Vanishing
from shaped.spec.expr import (
    Add,
    Apply,
    Constant,
    Entry,
    Greatest,
    Infinity,
    Multiply,
    Node,
    Pi,
    Power,
    Product,
    Sum,
    Variable,
    Where,
    Whole,
)
from shaped.spec.scalars.system import Array, Reason, Reasons, Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from shaped.spec.atoms import Symbol
    from shaped.spec.expr import Expr
    from shaped.spec.index import Index
    from shaped.spec.scalars.system import Scalars


class Numbers:
    """Computes expressions in one number system; each node once."""

    def __init__(
        self, scalars: Scalars, sizes: Mapping[Symbol, int] | Mapping[str, int], values: Mapping[str, Any]
    ) -> None:
        self.scalars = scalars
        self.places = Places(sizes, self._integers)
        self.conditions = Conditions(self)
        self.vanishing = Vanishing(self)
        self._values = values
        self._done: dict[Node, Grid] = {}
        self._tensors: dict[str, Grid] = {}
        self._one = scalars.constant_of(1)

    def __call__(self, node: Node) -> Grid:
        """The numbers at all places of the free indices."""
        grid = self._done.get(node)
        if grid is None:
            grid = self._done[node] = self._computed(node)
        return grid

    def definition_of(self, variable: Variable) -> Expr | None:
        """What the entries of a tensor are computed from, None where the tensor is given."""
        is_given = variable.definition is None or variable.name in self._values
        return None if is_given or variable.definition is None else variable.definition[1]

    def flags(self, variable: Variable) -> Array:
        """The values of a bool tensor."""
        return self._checked(variable, np.asarray(self.given(variable.name), dtype=bool))

    def over(self, index: Index, body: Grid) -> tuple[Grid, Array, int]:
        """A body along an index and all indices that it or the size depends on; where the index is in range; its axis.

        The arrays have their whole shape.
        """
        size = self.places(index.size)
        axes = in_order({index, *body.axes, *size.axes})
        axis = axes.index(index)
        shape = tuple(self.places.extent(each) for each in axes)
        places = Grid((index,), np.arange(self.places.extent(index))).along(axes)
        inside = np.broadcast_to(places.data < size.along(axes).data, shape)
        return body.stretched(axes, shape), inside, axis

    def given(self, name: str) -> Any:
        """The values of a tensor as the caller gave them."""
        if name not in self._values:
            given = ", ".join(self._values) or "none"
            raise ValueError(f"no values are given for the tensor {name}; given: {given}")
        return self._values[name]

    def _integers(self, name: str) -> Array:
        values = np.asarray(self.given(name))
        if values.size and values.dtype.kind not in "iub":
            raise ValueError(f"the integer tensor {name} is given numbers of dtype {values.dtype}: give ints")
        return values.astype(np.int64)

    def _checked(self, variable: Variable, values: Array) -> Array:
        shape = self._shape(variable)
        if values.shape != shape:
            raise ValueError(f"{variable.name} has shape {shape} for the given sizes, but values of {values.shape}")
        return values

    def _shape(self, variable: Variable) -> tuple[int, ...]:
        return tuple(int(self.places(size).data) for size in variable.sizes)

    def _tensor(self, variable: Variable) -> Grid:
        """The numbers of a tensor, without the names of its axes."""
        grid = self._tensors.get(variable.name)
        if grid is not None:
            return grid
        body = self.definition_of(variable)
        if body is not None and variable.definition is not None:
            indices, _ = variable.definition
            grid = self(body)
            # Axes of size 1 may have no index, merged axes have several.
            shape = self._shape(variable)
            ordered = in_order(set(indices))
            turn = [ordered.index(index) for index in indices]
            whole = grid.stretched(ordered, tuple(self.places.extent(index) for index in ordered))
            data, reasons, infinite = (
                None if each is None else each.transpose(turn).reshape(shape)
                for each in (whole.data, whole.reasons, whole.infinite)
            )
            assert data is not None
            grid = Grid((), data, reasons, infinite)
        else:
            grid = self._numbers_given(variable)
        self._tensors[variable.name] = grid
        return grid

    def _numbers_given(self, variable: Variable) -> Grid:
        values = np.asarray(self.given(variable.name))
        if values.dtype == object:  # only floats can be infinite
            signs = np.array([infinity_in(value) for value in values.flat], dtype=np.int8).reshape(values.shape)
        else:
            if np.isnan(values).any():
                raise ValueError(f"{variable.name} is given a NaN, which is no number")
            signs = (np.sign(values) * np.isinf(values)).astype(np.int8)
        if not signs.any():
            return Grid((), self._checked(variable, self.scalars.array(values)))
        finite = np.where(signs == 0, values, 0)
        return Grid((), self._checked(variable, self.scalars.array(finite)), None, signs)

    def _computed(self, node: Node) -> Grid:
        match node:
            case Constant(value):
                return self._single(self.scalars.constant(value))
            case Pi():
                try:
                    return self._single(self.scalars.pi())
                except Undefined as error:
                    return Grid((), self._single(self._one).data, np.asarray(error.reason, dtype=np.int8))
            case Infinity():
                return Grid((), self._single(self._one).data, None, np.asarray(1, dtype=np.int8))
            case Whole(dim):
                place = self.places(dim)
                return Grid(place.axes, self.scalars.array(place.data), place.reasons)
            case Entry(variable, at):
                return self._entry(variable, [self.places(place) for place in at])
            case Add(terms):
                return self._sum_of(terms)
            case Multiply(factors):
                return self._product_of(factors)
            case Power(base, exponent):
                return self._power(self(base), exponent)
            case Apply(function, argument):
                return self._apply(function, self(argument))
            case Sum(index, body):
                return self._sum(index, self(body))
            case Product(index, body):
                return self._product(index, body)
            case Greatest(index, body):
                return self._greatest(index, self(body))
            case Where(condition, then, otherwise):
                return self._where(self.conditions(condition), self(then), self(otherwise))
        raise TypeError(f"{type(node).__name__} is no expression")

    def _single(self, value: Any) -> Grid:
        return Grid((), self.scalars.full((), value))

    def _entry(self, variable: Variable, at: list[Grid]) -> Grid:
        tensor = self._tensor(variable)
        grid = self.places.entries(tensor.data, at)
        if 0 in tensor.data.shape:
            return Grid(grid.axes, self.scalars.full(grid.data.shape, self._one), grid.reasons)
        reasons, infinite = grid.reasons, None
        if tensor.reasons is not None:
            reasons = worst(reasons, self.places.entries(tensor.reasons, at).data)
        if tensor.infinite is not None:
            infinite = self.places.entries(tensor.infinite, at).data
        return Grid(grid.axes, grid.data, reasons, infinite)

    def _sum_of(self, terms: tuple[Expr, ...]) -> Grid:
        axes, grids = aligned(*(self(term) for term in terms))
        total = grids[0].data
        for grid in grids[1:]:
            total = self.scalars.add(total, grid.data)
        infinite, clash = infinite_sum([grid.infinite for grid in grids if grid.infinite is not None])
        return self.grid(axes, total, worst(clash, *(grid.reasons for grid in grids)), infinite)

    def _product_of(self, factors: tuple[Expr, ...]) -> Grid:
        given = [self(factor) for factor in factors]
        axes, grids = aligned(*given)
        total, infinite, reasons = grids[0].data, grids[0].infinite, grids[0].reasons
        for grid in grids[1:]:
            infinite, clash = infinite_product(self.scalars, total, infinite, grid.data, grid.infinite)
            total = self.scalars.multiply(total, grid.data)
            reasons = worst(reasons, grid.reasons, clash)
        if reasons is None and infinite is None:
            return self.grid(axes, total)
        vanishes = np.zeros((), dtype=bool)
        for factor in factors:
            vanishes = vanishes | self.vanishing(factor).along(axes).data
        total = np.where(vanishes, self._zeros(()), total)
        if infinite is not None:
            infinite = np.where(vanishes, np.int8(0), infinite)
        return self.grid(axes, total, masked(reasons, ~vanishes), infinite)

    def _power(self, base: Grid, exponent: Fraction) -> Grid:
        data, reasons = self.scalars.power(base.data, exponent)
        infinite = base.infinite
        if infinite is not None:
            data, reasons, infinite = infinite_power(self.scalars, (data, reasons, infinite), exponent)
        return self.grid(base.axes, data, after(base.reasons, reasons), infinite)

    def _apply(self, function: str, argument: Grid) -> Grid:
        data, reasons = self.scalars.apply(function, argument.data)
        infinite = argument.infinite
        if infinite is not None:
            data, reasons, infinite = infinite_value(self.scalars, (data, reasons, infinite), function)
        return self.grid(argument.axes, data, after(argument.reasons, reasons), infinite)

    def _sum(self, index: Index, body: Grid) -> Grid:
        whole, inside, axis = self.over(index, body)
        axes = tuple(each for each in whole.axes if each != index)
        if whole.data.shape[axis] == 0:
            return Grid(axes, self._zeros(whole.data.shape[:axis] + whole.data.shape[axis + 1 :]))
        kept = whole.data if inside.all() else np.where(inside, whole.data, self._zeros(()))
        infinite, clash = None, None
        if whole.infinite is not None:
            signs = np.where(inside, whole.infinite, 0)
            infinite, clash = infinite_sum([signs.max(axis=axis), signs.min(axis=axis)])
        reasons = worst(clash, self._worst_along(whole.reasons, inside, axis))
        return self.grid(axes, self.scalars.total(kept, axis), reasons, infinite)

    def _product(self, index: Index, body: Expr) -> Grid:
        whole, inside, axis = self.over(index, self(body))
        axes = tuple(each for each in whole.axes if each != index)
        shape = whole.data.shape[:axis] + whole.data.shape[axis + 1 :]
        total, infinite = self.scalars.full(shape, self._one), None
        reasons: Reasons = None
        for place in range(whole.data.shape[axis]):
            here = np.take(inside, place, axis)
            factor = np.where(here, np.take(whole.data, place, axis), self.scalars.full((), self._one))
            signs = None if whole.infinite is None else np.where(here, np.take(whole.infinite, place, axis), 0)
            infinite, clash = infinite_product(self.scalars, total, infinite, factor, signs)
            total = self.scalars.multiply(total, factor)
            why = None if whole.reasons is None else masked(np.take(whole.reasons, place, axis), here)
            reasons = worst(reasons, clash, why)
        return self.grid(axes, total, reasons, infinite)

    def _greatest(self, index: Index, body: Grid) -> Grid:
        whole, inside, axis = self.over(index, body)
        axes = tuple(each for each in whole.axes if each != index)
        shape = whole.data.shape[:axis] + whole.data.shape[axis + 1 :]
        reasons = worst(
            self._worst_along(whole.reasons, inside, axis), because(Reason.EMPTY, np.asarray(~inside.any(axis=axis)))
        )
        minus = -np.ones(shape, dtype=np.int8)
        total, infinite = self.scalars.full(shape, self._one), minus
        for place in range(whole.data.shape[axis]):
            signs = np.zeros(shape, np.int8) if whole.infinite is None else np.take(whole.infinite, place, axis)
            signs = np.where(np.take(inside, place, axis), signs, minus)
            data = np.take(whole.data, place, axis)
            both = (infinite == 0) & (signs == 0)
            greater, unknown = self.scalars.greatest(total, data)
            reasons = worst(reasons, masked(unknown, both))
            total = np.where(both, greater, np.where(signs > infinite, data, total))
            infinite = np.maximum(infinite, signs)
        return self.grid(axes, self.scalars.greatest_found(total), reasons, infinite)

    def _where(self, condition: Grid, then: Grid, otherwise: Grid) -> Grid:
        axes, (chosen, first, second) = aligned(condition, then, otherwise)
        data = self.scalars.choose(chosen.data, first.data, second.data)
        infinite: Reasons = None
        if first.infinite is not None or second.infinite is not None:
            infinite = np.where(
                chosen.data,
                0 if first.infinite is None else first.infinite,
                0 if second.infinite is None else second.infinite,
            ).astype(np.int8)
        reasons = worst(
            chosen.reasons, masked(first.reasons, chosen.data), masked(second.reasons, ~np.asarray(chosen.data))
        )
        return self.grid(axes, data, reasons, infinite)

    @staticmethod
    def _worst_along(reasons: Reasons, inside: Array, axis: int) -> Reasons:
        """The reasons of a value that needs the values at all places of an index."""
        if reasons is None:
            return None
        return np.asarray(np.where(inside, reasons, np.int8(0)).max(axis=axis, initial=0))

    def _zeros(self, shape: tuple[int, ...]) -> Array:
        return self.scalars.full(shape, self.scalars.constant_of(0))

    def grid(self, axes: tuple[Index, ...], data: Array, reasons: Reasons = None, infinite: Reasons = None) -> Grid:
        """A grid whose arrays have equal shapes, with the number 1 where there is no value, so that none is used."""
        reasons = None if reasons is None or not reasons.any() else reasons
        infinite = None if infinite is None or not infinite.any() else infinite
        if reasons is None and infinite is None:
            return Grid(axes, np.asarray(data, dtype=self.scalars.dtype))
        shape = np.broadcast_shapes(*(each.shape for each in (data, reasons, infinite) if each is not None))
        if reasons is not None:
            reasons = np.broadcast_to(reasons, shape)
            infinite = None if infinite is None else np.where(reasons == 0, infinite, np.int8(0))
        without = np.zeros(shape, dtype=bool) if reasons is None else reasons != 0
        if infinite is not None:
            infinite = np.broadcast_to(infinite, shape)
            without = without | (infinite != 0)
        data = np.where(without, self.scalars.full((), self._one), data)
        return Grid(axes, np.asarray(data, dtype=self.scalars.dtype), reasons, infinite)
