"""Replacing indices, sizes and variables in index expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from shaped.spec.dims import Dim
from shaped.spec.expr import Node
from shaped.spec.index import Index, fresh_index

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shaped.spec.atoms import Symbol

N = TypeVar("N", bound=Node)


def substitute(node: N, values: Mapping[Symbol, Dim]) -> N:
    """The node with free indices, or sizes, replaced; indices that it binds are renamed where they would capture.

    >>> from shaped.spec.expr import Variable
    >>> n = Dim.name("n")
    >>> x, i = Variable("x", (n,)), fresh_index(n)
    >>> print(substitute(x[i.dim] * 2, {i: n - 1}))
    2*x[n-1]
    """
    only_indices = all(isinstance(symbol, Index) for symbol in values)
    used = frozenset[Index]().union(*(_indices(dim) for dim in values.values()))
    return cast("N", _Substitution(dict(values), only_indices, used)(node))


def _indices(dim: Dim) -> frozenset[Index]:
    return frozenset(symbol for symbol in dim.symbols() if isinstance(symbol, Index))


class _Substitution:
    """One replacement, with what it gave for each node so far."""

    def __init__(self, values: dict[Symbol, Dim], only_indices: bool, used: frozenset[Index]) -> None:
        self.values = values
        self.only_indices = only_indices
        self.used = used
        self.done: dict[Node, Node] = {}

    def __call__(self, node: Node) -> Node:
        if self.only_indices and node.free.isdisjoint(self.values):
            return node
        result = self.done.get(node)
        if result is None:
            result = self.done[node] = self._replaced(node)
        return result

    def _replaced(self, node: Node) -> Node:
        bound = node.bound
        if bound is None:
            return self._rebuilt(node)
        size = bound.size.substitute(self.values)
        if bound in self.values or bound in self.used or size != bound.size:
            new = fresh_index(size, bound.name)
            inner = {**{symbol: dim for symbol, dim in self.values.items() if symbol != bound}, bound: new.dim}
            body = _Substitution(inner, self.only_indices, self.used)(cast("Node", node.fields[1]))
            return node.rebuilt(new, body)
        return self._rebuilt(node)

    def _rebuilt(self, node: Node) -> Node:
        fields = node.fields
        changed = tuple(self._field(each) for each in fields)
        return node if all(a is b for a, b in zip(changed, fields)) else node.rebuilt(*changed)

    def _field(self, field: object) -> object:
        if isinstance(field, tuple):
            changed = tuple(self._field(each) for each in field)
            return field if all(a is b for a, b in zip(changed, field)) else changed
        if isinstance(field, Dim):
            return field.substitute(self.values)
        return self(field) if isinstance(field, Node) else field
