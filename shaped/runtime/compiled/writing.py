"""Writing programs: a graph of operations whose values are known, as those of a traced one are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from shaped.runtime.compiled.program import Program, draws_random_numbers
from shaped.runtime.compiled.tracing import Traced

aten = torch.ops.aten


class Writer:
    """A program under way: placeholders first, then operations.

    >>> writer = Writer()
    >>> x = writer.given("x", torch.zeros(3))
    >>> y = writer(aten.add.Tensor, x, 1.0)
    >>> print(writer.program([y]))
    given x
    add_tensor = aten.add.Tensor(x, 1.0)
    return add_tensor
    """

    def __init__(self, *, is_training: bool = False) -> None:
        self.is_training = is_training
        self.graph = fx.Graph()
        self._fakes = FakeTensorMode(allow_non_fake_inputs=True)
        self._inputs: list[fx.Node] = []
        self._held: dict[fx.Node, Tensor] = {}
        self._scalars: list[fx.Node] = []

    def given(self, name: str, like: Tensor) -> fx.Node:
        """An input with the shape, strides and dtype of a tensor."""
        self._inputs.append(self._placeholder(name, self._like(like)))
        return self._inputs[-1]

    def held(self, name: str, tensor: Tensor) -> fx.Node:
        """A tensor that stays."""
        node = self._placeholder(name, self._like(tensor))
        self._held[node] = tensor
        return node

    def scalar(self, name: str) -> fx.Node:
        """A float that is given at each call."""
        self._scalars.append(self._placeholder(name, 1.0))
        return self._scalars[-1]

    def __call__(self, operation: torch._ops.OpOverload, *arguments: Any, **named: Any) -> fx.Node:
        """An operation on nodes and plain values."""
        node = self.graph.call_function(operation, arguments, named)
        values = fx.node.map_arg((arguments, named), lambda one: one.meta["val"])
        with self._fakes:
            node.meta["val"] = operation(*values[0], **values[1])
        return node

    def standing(
        self, traced: Traced, inputs: Sequence[Tensor], tensors: Mapping[str, Tensor]
    ) -> dict[fx.Node, fx.Node]:
        """Placeholders for those of a traced function: its inputs, tensors of its module, and its constants.

        Args:
            inputs: tensors like those that are given.
            tensors: parameters and buffers that stay where they are, by name.
        """
        given = [self.given(f"input_{number}", one) for number, one in enumerate(inputs)]
        found = dict(zip(traced.inputs, given))
        for name, tensor in tensors.items():
            found[traced.named[name]] = self.held(name.replace(".", "_"), tensor.detach())
        for number, (node, constant) in enumerate(traced.constants.items()):
            found[node] = self.held(f"constant_{number}", constant.detach())
        return found

    def insert(self, traced: Traced, standing: Mapping[fx.Node, fx.Node]) -> list[fx.Node]:
        """Write the operations of a traced function.

        Args:
            standing: what stands for each of its placeholders and constants.

        Returns:
            Its results and gradients.
        """
        new = dict(standing)
        for node in traced.graph.nodes:
            if node in new or node.op == "placeholder":
                continue
            if node.op == "output":
                return [new[one] for one in node.args[0]]
            new[node] = self.copy(node, new)
        raise AssertionError("a graph has an output")

    def copy(self, node: fx.Node, standing: Mapping[fx.Node, fx.Node]) -> fx.Node:
        """An operation of another program, on what stands for its operands."""
        copied = self.graph.node_copy(node, lambda one: standing[one])
        # There is no value of a gradient that is not taken.
        copied.meta = {"val": pytree.tree_map_only(Tensor, self._like, node.meta.get("val"))}
        return copied

    def program(self, outputs: Sequence[fx.Node]) -> Program:
        """The finished program; what no output and no write needs is left out."""
        self.graph.output(tuple(outputs))
        self.graph.eliminate_dead_code(is_impure_node=_has_effect)
        return Program(self.graph, tuple(self._inputs), dict(self._held), tuple(self._scalars), self.is_training)

    def _placeholder(self, name: str, value: object) -> fx.Node:
        node = self.graph.placeholder(name)
        node.meta["val"] = value
        return node

    def _like(self, value: Tensor) -> Tensor:
        """A fake tensor of this writer's own: those of different traces do not meet in one operation."""
        with self._fakes:
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)


def _has_effect(node: fx.Node) -> bool:
    """Whether an operation does more than to give its result: writes to a tensor, or draws random numbers."""
    if node.op != "call_function":
        return True
    operation = node.target
    if not isinstance(operation, torch._ops.OpOverload):
        return False
    return operation._schema.is_mutable or draws_random_numbers(node)
