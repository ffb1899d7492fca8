"""What is compiled: a straight line of torch's own operations over tensors that stay and inputs that change.

A program is a `torch.fx.Graph` of aten overloads, as eager dispatches them, with the values of autograd's backward and
of the optimiser's update spelled out. A backend turns it into something that runs; what it must do is said here.

- Every node has `meta["val"]`: a fake tensor (shape, strides, dtype, device), or a float for a scalar.
- Placeholders are of three roles. *Inputs* are given at each call. *Held* tensors are the module's and the optimiser's
  own (parameters, buffers, moments): the backend keeps them and may prepare what it likes from where they are, but not
  from what they contain, since anybody may write to them between calls. *Scalars* are floats, given at each call (a
  learning rate, a bias correction).
- Operations run in the order of the graph, for it contains ones that write in place (`add_`, `copy_`): to held tensors,
  and to views of them. No two held tensors overlap.
- The outputs are new at each call: a caller may keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, fx

# The inputs, then the scalars; gives the outputs, in the order of the graph.
Run: TypeAlias = Callable[..., tuple[Tensor, ...]]


@dataclass(frozen=True)
class Program:
    """A straight line of operations.

    Args:
        graph: the operations; its output is a tuple of nodes.
        inputs: the placeholders that are given at each call, in their order.
        held: the placeholders that are tensors of the module or of the optimiser, with these tensors.
        scalars: the placeholders that are floats, given at each call.
        is_training: whether eager runs it while gradients are recorded: a few kernels ask for that.
    """

    graph: fx.Graph
    inputs: tuple[fx.Node, ...]
    held: Mapping[fx.Node, Tensor]
    scalars: tuple[fx.Node, ...] = ()
    is_training: bool = False
    outputs: tuple[fx.Node, ...] = field(init=False)

    def __post_init__(self) -> None:
        (result,) = (node for node in self.graph.nodes if node.op == "output")
        object.__setattr__(self, "outputs", tuple(result.args[0]))

    @property
    def operations(self) -> list[fx.Node]:
        """The operations, in order."""
        return [node for node in self.graph.nodes if node.op == "call_function"]

    def __str__(self) -> str:
        lines = [f"{node.name} = {_written(node)}" for node in self.operations]
        names = ", ".join(node.name for node in (*self.inputs, *self.scalars))
        return "\n".join([f"given {names}", *lines, f"return {', '.join(node.name for node in self.outputs)}"])


def _written(node: fx.Node) -> str:
    given = [str(one) for one in node.args] + [f"{name}={value}" for name, value in node.kwargs.items()]
    return f"{node.target}({', '.join(given)})"


class CannotCompile(Exception):
    """A backend cannot run this program, and why."""


def draws_random_numbers(node: fx.Node) -> bool:
    """Whether an operation takes numbers from a random generator."""
    operation = node.target
    return isinstance(operation, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in operation.tags


def empty_like(value: Tensor) -> Tensor:
    """A tensor with the shape, strides, dtype and device of a node's value, and no content."""
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)


def first_line(error: BaseException) -> str:
    """The first line of an error's text, or its class."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
