"""Intermediate results of a forward as tensors of their own, with what they are as definition.

A derivative follows the definitions; a backward that computes the same intermediate is given the same tensor. An
equation that holds whatever the intermediates are holds for what they are, and is far shorter: without this the terms
double with each layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from shaped.spec.atoms import Symbol
from shaped.spec.calls import Meaning
from shaped.spec.canonical import Form, Undecided, Undefined, canonical
from shaped.spec.dims import Dim
from shaped.spec.expr import Apply, Binder, Entry, Expr, Node, Power, Variable
from shaped.spec.index import Index
from shaped.spec.meaning import MEANINGS
from shaped.spec.substitution import substitute
from shaped.spec.tensor import Tensor

# Results that are intermediates.
_PRODUCTS = frozenset(
    """
    matmul rmatmul mm bmm mv linear einsum addmm baddbmm addmv bilinear tensordot conv1d conv2d conv3d
    """.split()  # noqa: SIM905  (a column of quoted names reads worse)
)
# Functions whose argument is an intermediate where it holds functions itself.
_FUNCTIONS = frozenset(["tanh", "sigmoid", "exp", "softplus", "silu", "gelu", "erf", "sin", "cos"])


@dataclass(frozen=True)
class _Known:
    """An intermediate of the forward."""

    variable: Variable
    indices: tuple[Index, ...]
    form: Form


@dataclass
class Intermediates:
    """The intermediates of one program.

    Args:
        may_define: whether new ones are made: in the forward.
    """

    may_define: bool = True
    known: list[_Known] = field(default_factory=list)

    @property
    def definitions(self) -> dict[str, tuple[tuple[Index, ...], Expr]]:
        """What each of them is."""
        return {each.variable.name: each.variable.definition for each in self.known if each.variable.definition}

    def of_result(self, name: str, found: Any) -> Any:
        """What an operation gave, as an intermediate where it is a product."""
        return self.tensor(found) if name in _PRODUCTS and isinstance(found, Tensor) else found

    def replaced(self) -> dict[str, Meaning]:
        """Meanings of functions that take intermediates as arguments."""
        return {name: self._of_argument(MEANINGS[name].entry) for name in _FUNCTIONS if name in MEANINGS}

    def _of_argument(self, entry: Callable[..., Any]) -> Meaning:
        @wraps(entry)
        def of_intermediate(*args: Any, **kwargs: Any) -> Any:
            first = args[0] if args else None
            if isinstance(first, Tensor) and isinstance(first.body, Expr) and _holds_functions(first.body):
                args = (self.tensor(first), *args[1:])
            return entry(*args, **kwargs)

        return of_intermediate

    def tensor(self, operand: Tensor) -> Tensor:
        """The intermediate that has these entries; the operand itself where it is none."""
        body = operand.body
        if operand.kind != "float" or not isinstance(body, Expr) or isinstance(body, Entry):
            return operand
        variable = self._find(operand.indices, body)
        if variable is None:
            return operand
        return Tensor(operand.axes, variable[tuple(index.dim for index in operand.indices)], operand.kind)

    def _find(self, indices: tuple[Index, ...], body: Expr) -> Variable | None:
        sizes = tuple(index.size for index in indices)
        try:
            for each in self.known:
                if each.variable.sizes == sizes:
                    values: dict[Symbol, Dim] = {own: other.dim for own, other in zip(indices, each.indices)}
                    if canonical(substitute(body, values)) == each.form:
                        return each.variable
            if not self.may_define:
                return None
            form = canonical(body)
        except (Undecided, Undefined, RecursionError):
            return None
        variable = _defined(f"intermediate {len(self.known) + 1}", sizes, indices, body)
        self.known.append(_Known(variable, indices, form))
        return variable


def _defined(name: str, sizes: tuple[Dim, ...], indices: tuple[Index, ...], body: Expr) -> Variable:
    return Variable(name, sizes, "float", (indices, body))


def _holds_functions(node: Node) -> bool:
    """Whether an expression is more than sums and products of entries."""
    pending: list[Node] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, (Apply, Power)) and not isinstance(each, Binder) and each.free:
            return True
        pending += [part for part in each.parts() if isinstance(part, Node)]
    return False
