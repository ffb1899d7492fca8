"""Expression graphs as data, for certificates: a table of nodes that JSON holds, each once.

Read back, the graph can be evaluated without anything that made it. Its indices are new ones: their numbers mean
nothing in another process.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from shaped.spec import expr
from shaped.spec.atoms import FloorDiv, Kind, Min, Monomial, Symbol
from shaped.spec.dims import Dim
from shaped.spec.expr import Expr, Node, Variable
from shaped.spec.index import Index, Lookup, fresh_index, lookup

Data = list[Any]  # of lists, texts, numbers: what JSON holds


def dump(*roots: Node) -> Data:
    """The graph below some nodes as data: its entries in an order in which each needs earlier ones only.

    >>> n = Dim.name("n")
    >>> x = Variable("x", (n,))
    >>> load(dump(x[n - 1] * 2))[0]
    2*x[n-1]
    """
    writer = _Writer()
    ends = [writer.write(root) for root in roots]
    return [writer.entries, ends]


def load(data: Data) -> tuple[Node, ...]:
    """The nodes that were dumped, with new indices.

    Raises:
        ValueError: the data is no dumped graph.
    """
    try:
        entries, ends = data
        reader = _Reader()
        for entry in entries:
            reader.read(entry)
        return tuple(reader.objects[end] for end in ends)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"this is no dumped expression graph: {error}") from error


class _Writer:
    """Gives each object a number, after the objects that it needs."""

    def __init__(self) -> None:
        self.entries: Data = []
        self.numbers: dict[object, int] = {}

    def write(self, value: object) -> int:
        """The number of an object."""
        key = (type(value), value)
        if key not in self.numbers:
            entry = [type(value).__name__, *self._fields(value)]
            self.numbers[key] = len(self.entries)
            self.entries.append(entry)
        return self.numbers[key]

    def _fields(self, value: object) -> Data:
        match value:
            case Node():
                return [self._field(field) for field in value.fields]
            case Variable(name, sizes, kind, definition):
                parts = [] if definition is None else [self.write(definition[0]), self.write(definition[1])]
                return [name, self.write(sizes), kind, *parts]
            case Dim():
                return [
                    [coefficient, [[self.write(atom), power] for atom, power in monomial]]
                    for monomial, coefficient in value.terms
                ]
            case Index():
                return [value.name, self.write(value.size)]
            case Lookup():
                size = None if value.size is None else self.write(value.size)
                return [value.name, value.low, self.write(value.at), size]
            case Symbol(name, kind, scope, low):
                return [name, kind.value, scope, low]
            case FloorDiv(numerator, denominator):
                return [self.write(numerator), self.write(denominator)]
            case Min(choices):
                return [self.write(choices)]
            case tuple():
                return [self.write(each) for each in value]
        raise TypeError(f"{type(value).__name__} has no place in an expression graph")

    def _field(self, field: object) -> object:
        if isinstance(field, Fraction):
            return [str(field)]
        return field if isinstance(field, (str, bool)) else [self.write(field)]


class _Reader:
    """Makes the objects again, in order."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def read(self, entry: Data) -> None:
        """Make the next object."""
        kind, *fields = entry
        self.objects.append(self._made(kind, fields))

    def _made(self, kind: str, fields: Data) -> object:
        at = self.objects
        match kind:
            case "Variable":
                name, sizes, word, *definition = fields
                pair = (at[definition[0]], at[definition[1]]) if definition else None
                return Variable(name, at[sizes], word, cast("tuple[tuple[Index, ...], Expr] | None", pair))
            case "Dim":
                terms: dict[Monomial, int] = {}
                for coefficient, factors in fields:
                    terms[tuple((at[number], power) for number, power in factors)] = coefficient
                return Dim(terms)
            case "Index":
                return fresh_index(at[fields[1]], fields[0])
            case "Lookup":
                name, low, places, size = fields
                return lookup(name, at[places], None if size is None else at[size], low).symbol
            case "Symbol":
                return Symbol(fields[0], Kind(fields[1]), fields[2], fields[3])
            case "FloorDiv":
                return FloorDiv(at[fields[0]], at[fields[1]])
            case "Min":
                return Min(at[fields[0]])
            case "tuple":
                return tuple(at[number] for number in fields)
        node = getattr(expr, kind)
        return node(*map(self._field, fields))

    def _field(self, field: object) -> object:
        """The field of a node: a number in brackets is that of an object, a text in brackets a fraction."""
        if not isinstance(field, list):
            return field
        return Fraction(field[0]) if isinstance(field[0], str) else self.objects[field[0]]
