"""Which tensors of a program share memory, and which operations write to it."""

from __future__ import annotations

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.program import Program

aten = torch.ops.aten

# Gives a view of its operand, though it is not declared to: `mm` of three axes ends in it.
_UNDECLARED_VIEWS = (aten._unsafe_view.default,)


def roots(program: Program) -> dict[fx.Node, fx.Node]:
    """For each node the one whose memory it has: its own, or that of what it is a view of."""
    root: dict[fx.Node, fx.Node] = {}
    for node in program.graph.nodes:
        root[node] = node
        if node.op != "call_function":
            continue
        operation = node.target
        if not isinstance(operation, torch._ops.OpOverload):
            root[node] = root[node.args[0]]  # a part of a result
        elif operation._schema.is_mutable:
            written = written_by(node)
            root[node] = root[written[0]] if written else node
        elif is_view(operation):
            root[node] = root[node.all_input_nodes[0]]
    return root


def written_by(node: fx.Node) -> list[fx.Node]:
    """The operands that an operation writes to."""
    operation = node.target
    if node.op != "call_function" or not isinstance(operation, torch._ops.OpOverload):
        return []
    found = []
    for number, argument in enumerate(operation._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        given = node.args[number] if number < len(node.args) else node.kwargs.get(argument.name)
        found += [one for one in (given if isinstance(given, (list, tuple)) else [given]) if isinstance(one, fx.Node)]
    return found


def is_view(operation: torch._ops.OpOverload) -> bool:
    """Whether an operation gives a view of its operand."""
    returned = operation._schema.returns
    return operation in _UNDECLARED_VIEWS or (
        not operation._schema.is_mutable
        and len(returned) > 0
        and returned[0].alias_info is not None
        and not returned[0].alias_info.is_write
    )


def overlap(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors may share memory."""

    def reach(each: Tensor) -> tuple[int, int]:
        if each.numel() == 0:
            return 0, 0
        entries = 1 + sum((size - 1) * stride for size, stride in zip(each.shape, each.stride()))
        return each.data_ptr(), each.data_ptr() + entries * each.element_size()

    (first, end), (other_first, other_end) = reach(one), reach(other)
    return first < other_end and other_first < end


def same_place(one: Tensor, other: Tensor) -> bool:
    def sizes(each: Tensor) -> list[tuple[int, int]]:
        return [(size, stride) for size, stride in zip(each.shape, each.stride()) if size != 1]

    return one.data_ptr() == other.data_ptr() and one.shape == other.shape and sizes(one) == sizes(other)


def fills(value: Tensor) -> bool:
    """Whether a layout has no gaps and no overlaps, so that other layouts of as many entries fit its memory."""
    expected = 1
    for size, stride in sorted(zip(value.shape, value.stride()), key=lambda one: one[1]):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


__all__ = ["fills", "is_view", "overlap", "roots", "same_place", "written_by"]
