"""Random sizes and tensors for the names in expressions, as fractions that floats hold exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shaped.spec.atoms import FloorDiv, Kind, Symbol
from shaped.spec.dims import Dim
from shaped.spec.evaluation.places import Places
from shaped.spec.expr import Constant, Entry, Flag, Node, Positive, Variable
from shaped.spec.index import Index, Lookup

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence

LARGEST_SIZE = 4
# Numbers are whole multiples of this, so two of them are seldom equal and the products of a few are exact in floats.
_STEP = Fraction(1, 2**16)


@dataclass
class Names:
    """What has to be chosen before expressions have values.

    Args:
        sizes: the named sizes.
        variables: the float and bool tensors, by name, without those that have a definition.
        lookups: the reads of integer tensors, those inside others first.
        axes: for each integer tensor the sizes of the axes on which its values are places.
        thresholds: the constants in conditions, near which another branch may be chosen.
    """

    sizes: set[Symbol] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)
    lookups: dict[Lookup, None] = field(default_factory=dict)
    axes: dict[str, list[Dim]] = field(default_factory=dict)
    thresholds: set[Fraction] = field(default_factory=set)

    @staticmethod
    def of(nodes: Sequence[Node], indices: Sequence[Index] = ()) -> Names:
        """The names in expressions and in the sizes of indices."""
        names = Names()
        seen: set[Node] = set()
        todo: list[Node] = list(nodes)
        compared: set[Node] = set()
        for index in indices:
            names._add_dim(index.size)
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.bound is not None:
                names._add_dim(node.bound.size)
            if isinstance(node, (Entry, Flag)):
                todo.extend(names._add_variable(node.variable))
                for size, place in zip(node.variable.sizes, node.at):
                    if isinstance(place.symbol, Lookup):
                        names.axes.setdefault(place.symbol.name, []).append(size)
            if isinstance(node, Positive) or node in compared:
                compared.update(part for part in node.parts() if isinstance(part, Node))
            if isinstance(node, Constant) and node in compared:
                names.thresholds.add(abs(node.value))
            for part in node.parts():
                if isinstance(part, Node):
                    todo.append(part)
                else:
                    names._add_dim(part)
        return names

    def _add_variable(self, variable: Variable) -> Iterator[Node]:
        for size in variable.sizes:
            self._add_dim(size)
        if variable.definition is None:
            self.variables[variable.name] = variable
        else:
            for index in variable.definition[0]:
                self._add_dim(index.size)
            yield variable.definition[1]

    def _add_dim(self, dim: Dim) -> None:
        for atom in dim.atoms():
            match atom:
                case Lookup(at=at, size=size):
                    for inner in (*at, *([] if size is None else [size])):
                        self._add_dim(inner)
                    self.lookups.setdefault(atom)
                case Index(size=size):
                    self._add_dim(size)
                case Symbol():
                    self.sizes.add(atom)
                case FloorDiv(numerator, denominator):
                    self._add_dim(numerator)
                    self._add_dim(denominator)
                case _:
                    for choice in atom.choices:
                        self._add_dim(choice)


@dataclass(frozen=True)
class Point:
    """Sizes, and tensors for them."""

    sizes: dict[Symbol, int]
    values: dict[str, Any]


def draw(names: Names, random: random.Random, style: str = "any", sizes: Mapping[Symbol, int] | None = None) -> Point:
    """A random point. Entries of a float tensor are different with near certainty.

    Args:
        names: what to choose.
        random: the source of randomness.
        style: "any" signs, "positive", "small": between 0 and 1, or "near" a threshold and otherwise far from 0.
        sizes: sizes that are chosen already.

    Raises:
        ValueError: a tensor would have a negative size: draw again.
    """
    chosen = {}
    for symbol in sorted(names.sizes, key=lambda symbol: symbol.sort_key):
        low = 1 if symbol.low is None else symbol.low
        high = max(LARGEST_SIZE, low + 2)
        if symbol.kind is Kind.QUANTITY and symbol.low is None:
            low = -2
        chosen[symbol] = (sizes or {}).get(symbol, random.randint(low, high))
    values: dict[str, Any] = {}
    places = Places(chosen, lambda name: np.asarray(values[name]))
    thresholds = sorted(names.thresholds - {0, 1})
    for variable in names.variables.values():
        shape = tuple(int(places(size).data) for size in variable.sizes)
        if any(size < 0 for size in shape):
            raise ValueError(f"{variable.name} would have the shape {shape}")
        count = int(np.prod(shape, dtype=np.int64))
        drawn: list[Any] = [
            random.random() < 0.5 if variable.kind == "bool" else _number(random, style, thresholds)
            for _ in range(count)
        ]
        flat = np.empty(count, dtype=bool if variable.kind == "bool" else object)
        flat[:] = drawn
        values[variable.name] = flat.reshape(shape)
    values.update(_integers(names, chosen, values, random))
    return Point(chosen, values)


def _number(random: random.Random, style: str, thresholds: Sequence[Fraction]) -> Fraction:
    whole = int(1 / _STEP)
    if style == "small":
        return random.randint(1, whole - 1) * _STEP
    largest = 16 if style == "near" else 3
    number = random.randint(1, largest * whole) * _STEP
    if style == "near" and thresholds and random.random() < 0.5:
        # Thresholds such as 1/10 are no multiples of the step; what is near them need not be one.
        number = random.choice(thresholds) + random.randint(1 - whole, whole - 1) * _STEP
    return -number if style in ("any", "near") and random.random() < 0.5 else number


def _integers(
    names: Names, sizes: Mapping[Symbol, int], values: Mapping[str, Any], random: random.Random
) -> dict[str, Any]:
    """Integer tensors as large as the reads of them reach, with values in their range."""
    result: dict[str, Any] = {}
    by_name: dict[str, list[Lookup]] = {}
    for lookup in names.lookups:
        by_name.setdefault(lookup.name, []).append(lookup)
    for name, reads in by_name.items():
        places = Places(sizes, lambda other: np.asarray(result[other]))
        reached = [[int(places(at).data.max(initial=0)) + 1 for at in read.at] for read in reads]
        shape = tuple(max(1, *column) for column in zip(*reached))
        low = max((read.low for read in reads if read.low is not None), default=-2)
        bounds = [*(read.size for read in reads if read.size is not None), *names.axes.get(name, ())]
        ends = [int(places(bound).data.min(initial=LARGEST_SIZE)) for bound in bounds]
        high = min(ends, default=LARGEST_SIZE)
        if high <= low:
            raise ValueError(f"the integer tensor {name} would have no values: {low} <= {name} < {high}")
        count = int(np.prod(shape, dtype=np.int64))
        drawn = np.array([random.randrange(low, high) for _ in range(count)], dtype=np.int64)
        result[name] = drawn.reshape(shape)
    return result
