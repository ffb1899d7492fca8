"""Programs of plain functions, and what eager and bounds say of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx

from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.rounding import Bounded, Budget, compare, evaluate
from shaped.runtime.compiled.rounding.formats import format_of


class Traced:
    """A function as a program of inputs alone.

    Args:
        function: gives a tensor or several.
        inputs: tensors of the sizes and dtypes that it is traced with.
    """

    def __init__(self, function: Callable[..., Any], *inputs: Tensor) -> None:
        self.function = function
        module = make_fx(self._several, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)
        self.placeholders = tuple(module.graph.find_nodes(op="placeholder"))
        self.constants = {node: getattr(module, str(node.target)) for node in module.graph.find_nodes(op="get_attr")}
        held = dict(zip(self.placeholders, inputs))
        self.program = Program(module.graph, (), held)

    def _several(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        made = self.function(*inputs)
        return (made,) if isinstance(made, Tensor) else tuple(made)

    def values(self, inputs: Sequence[Tensor | Bounded]) -> dict[fx.Node, Tensor | Bounded]:
        """The inputs by their nodes."""
        return {**dict(zip(self.placeholders, inputs)), **self.constants}

    def bounded(self, *inputs: Tensor | Bounded) -> list[Bounded]:
        """What any sound kernel gives."""
        return evaluate(self.program, self.values(inputs)).outputs

    def budgets(self, actual: Sequence[Tensor], *inputs: Tensor | Bounded) -> list[Budget]:
        """How far results are off, in units of what rounding explains."""
        return [
            compare(one, bounded, f"result {place}")
            for place, (one, bounded) in enumerate(zip(actual, self.bounded(*inputs)))
        ]

    def eager(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """What torch gives."""
        return self._several(*inputs)

    def node(self, target: object, number: int = 0) -> fx.Node:
        """The operation of a kind, by its place among those of this kind."""
        return [node for node in self.program.operations if node.target is target][number]


def with_errors(exact: Tensor, actual: Tensor) -> Bounded:
    """Numbers that a kernel has as `actual`."""
    return Bounded(exact.double().clone(), (actual.double() - exact.double()).abs(), format_of(exact.dtype))
