"""Values that gradients do not flow through: `x.detach()` and what is computed under `torch.no_grad()`.

In the forward they are tensors of their own while the derivative is taken, and what they stand for afterwards.
"""

from __future__ import annotations

from typing import Any

import torch

from shaped.spec.expr import Condition, Entry, Expr, Node, Variable, real
from shaped.spec.index import Index
from shaped.spec.substitution import substitute
from shaped.spec.tensor import Tensor

_NAME = "detached"

Definitions = dict[str, tuple[tuple[Index, ...], Expr]]


class Detached:
    """The detached values of one run of a forward."""

    def __init__(self) -> None:
        self.definitions: Definitions = {}

    def detach(self, operand: Tensor) -> Tensor:
        """The same numbers as a tensor that depends on nothing."""
        if isinstance(operand.body, Condition) or operand.kind not in ("float", "complex"):
            return operand
        imaginary = None if operand.imaginary is None else self._part(operand, operand.imaginary)
        return Tensor(operand.axes, self._part(operand, operand.body), operand.kind, imaginary)

    def _part(self, operand: Tensor, body: Expr) -> Expr:
        name = f"{_NAME} {len(self.definitions)}"
        self.definitions[name] = operand.indices, body
        return Variable(name, tuple(index.size for index in operand.indices))[tuple(i.dim for i in operand.indices)]

    def under_no_grad(self, name: str, found: Any) -> Any:
        """What an operation gave, detached where gradients are switched off."""
        if torch.is_grad_enabled():
            return found
        if isinstance(found, (tuple, list)):
            return type(found)(self.under_no_grad(name, each) for each in found)
        return self.detach(found) if isinstance(found, Tensor) else found

    def inlined(self, node: Expr) -> Expr:
        """An expression with what the detached values stand for."""
        return inlined(node, self.definitions)


def inlined(node: Expr, definitions: Definitions) -> Expr:
    """An expression with its variables that have definitions replaced by these."""
    found: Expr = _Inlining(definitions)(node) if definitions else node
    return found


class _Inlining:
    """Replaces entries of variables by their definitions."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.done: dict[Node, Node] = {}

    def __call__(self, node: Any) -> Any:
        result = self.done.get(node)
        if result is None:
            result = self.done[node] = self._replaced(node)
        return result

    def _replaced(self, node: Node) -> Node:
        if isinstance(node, Entry):
            found = self.definitions.get(node.variable.name)
            if found is None:
                return node
            indices, body = found
            replaced: Node = self(substitute(real(body), dict(zip(indices, node.at))))
            return replaced
        fields = [self._field(each) for each in node.fields]
        return node if all(a is b for a, b in zip(fields, node.fields)) else node.rebuilt(*fields)

    def _field(self, value: object) -> object:
        if isinstance(value, tuple):
            changed = tuple(self._field(each) for each in value)
            return value if all(a is b for a, b in zip(changed, value)) else changed
        return self(value) if isinstance(value, Node) else value
