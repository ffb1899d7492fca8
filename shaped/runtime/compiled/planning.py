"""From a program to a plan for torch's own kernels: what is prepared once, and what is called each time.

Prepared once: a buffer for each result that has an `out=` form, every view of a tensor that stays, constants. What is
left is a straight line of calls, each of which runs the kernel that eager runs, on operands of the same values, shapes
and strides.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx

from shaped.runtime.compiled.aliasing import fills, is_view, overlap, roots, same_place, written_by
from shaped.runtime.compiled.buffers import Buffers, out_form
from shaped.runtime.compiled.program import Program, draws_random_numbers, empty_like

aten = torch.ops.aten


@dataclass(frozen=True)
class Line:
    """One call. An argument that is a node stands for what another line of this run, or the caller, gives.

    Args:
        operation: an aten overload, or `operator.getitem` for one of several results.
        arguments: nodes, tensors that stay, and plain values.
        result: the node whose value is what the call returns; None where it is written to a tensor that stays.
    """

    operation: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    result: fx.Node | None


@dataclass
class Plan:
    """What is called, in order.

    Args:
        inputs: what is given at each call.
        scalars: floats that are given at each call.
        is_training: see `Program`.
        lines: the calls.
        outputs: nodes of this run.
        cells: tensors without axes that hold scalars: where an operation wants a tensor, torch would make one from a
            float at each call.
    """

    inputs: tuple[fx.Node, ...]
    scalars: tuple[fx.Node, ...]
    is_training: bool
    lines: list[Line] = field(default_factory=list)
    outputs: tuple[fx.Node, ...] = ()
    cells: list[tuple[fx.Node, Tensor]] = field(default_factory=list)


def plan(program: Program) -> Plan:
    """Plan a program."""
    return _Planner(program).plan()


class _Planner:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.made = Plan(program.inputs, program.scalars, program.is_training)
        # What each node is, if it is the same tensor at every call.
        self.staying: dict[fx.Node, Any] = dict(program.held)
        self.root = roots(program)
        self.written = {self.root[node] for one in program.operations for node in written_by(one)}
        self.constants: set[fx.Node] = set()
        self.escaping = {self.root[node] for node in program.outputs}
        self.buffers = Buffers(program, self.root)
        self.cells: dict[tuple[float | fx.Node, torch.dtype], Tensor] = {}
        self.done_copies: set[fx.Node] = set()
        # Nodes of a run that are another node's value.
        self.renamed: dict[fx.Node, fx.Node] = {}

    def plan(self) -> Plan:
        for node in self.program.operations:
            if node not in self.done_copies:
                self._place(node)
        outputs = []
        for node in self.program.outputs:
            node = self.renamed.get(node, node)
            if node in self.staying or self.root[node] in self.program.inputs:
                copied = self.program.graph.create_node("call_function", aten.clone.default, (node,))
                self.program.graph.erase_node(copied)  # it has a name of this graph, and no place in it
                self._call(aten.clone.default, (node,), {}, copied)
                node = copied
            outputs.append(node)
        self.made.outputs = tuple(outputs)
        return self.made

    def _place(self, node: fx.Node) -> None:
        operation = node.target
        if not isinstance(operation, torch._ops.OpOverload):
            self._take_part(node)
        elif is_view(operation) and all(one in self.staying for one in node.all_input_nodes):
            self.staying[node] = operation(*self._known(node.args), **self._known(node.kwargs))
            self._inherit(node)
        elif operation in _SAME_VALUE:
            (operand,) = node.all_input_nodes
            self.renamed[node] = self.renamed.get(operand, operand)
        elif self._is_filled_like(node):
            value = empty_like(node.all_input_nodes[0].meta["val"])
            self.staying[node] = operation(value, *node.args[1:], **node.kwargs)
            self.constants.add(node)
        elif self._is_constant(node):
            self.staying[node] = operation(*self._known(node.args), **self._known(node.kwargs))
            self.constants.add(node)
        elif operation._schema.is_mutable:
            self._call(operation, node.args, node.kwargs, None if self._returns_staying(node) else node)
            if self._returns_staying(node):
                self.staying[node] = self.staying[written_by(node)[0]]
        else:
            called, more = _WITH_BUFFER.get(operation, (operation, ()))
            out = out_form(called)
            if out is None or node in self.escaping or is_view(operation) or draws_random_numbers(node):
                self._call(operation, node.args, node.kwargs, node)
            else:
                self._buffered(node, out, (*node.args, *more))

    # Results that are written to a buffer

    def _buffered(self, node: fx.Node, out: tuple[torch._ops.OpOverload, str], arguments: tuple[Any, ...]) -> None:
        form, name = out
        buffer = self._destination(node)
        if buffer is None:
            known = [self.staying.get(self.renamed.get(one, one)) for one in node.all_input_nodes]
            buffer = self.buffers.take(node, [one for one in known if isinstance(one, Tensor)])
        self._call(form, arguments, {**node.kwargs, name: buffer}, None)
        self.staying[node] = buffer

    def _destination(self, node: fx.Node) -> Tensor | None:
        """The tensor that a result is only copied to, in the layout of the result."""
        chain: list[fx.Node] = []
        last = node
        while len(last.users) == 1:
            (user,) = last.users
            if user.target is aten.copy_.default and user.args[1] is last:
                break
            if not isinstance(user.target, torch._ops.OpOverload) or not is_view(user.target):
                return None
            chain.append(user)
            last = user
        else:
            return None
        copy = user
        target = copy.args[0]
        if not isinstance(target, fx.Node) or len(copy.users) > 0:
            return None
        if target not in self.staying:
            self._stay(target)
        if target not in self.staying or self._is_touched_between(node, copy, target):
            return None
        destination: Tensor = self.staying[target]
        value = node.meta["val"]
        if value.dtype != destination.dtype or value.numel() != destination.numel() or not fills(destination):
            return None
        result = destination.as_strided(value.shape, value.stride(), destination.storage_offset())
        seen = result
        for view in chain:
            seen = _called_on(view, seen)
        if not same_place(seen, destination):
            return None
        self.done_copies.update([copy, *chain])
        return result

    def _stay(self, node: fx.Node) -> None:
        """Make a view of a tensor that stays known before its turn."""
        inputs = node.all_input_nodes
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload) or not is_view(node.target):
            return
        for one in inputs:
            if one not in self.staying:
                self._stay(one)
        if all(one in self.staying for one in inputs):
            self.staying[node] = node.target(*self._known(node.args), **self._known(node.kwargs))

    def _is_touched_between(self, first: fx.Node, last: fx.Node, target: fx.Node) -> bool:
        """Whether operations from one to another read or write the memory of a tensor that stays."""
        root, destination = self.root[target], self.staying[target]
        node = first
        while node is not last:
            if node is first or not self._is_known_view(node):
                for one in node.all_input_nodes:
                    if self.root[one] is not root:
                        continue
                    self._stay(one)
                    if one not in self.staying or overlap(self.staying[one], destination):
                        return True
            node = node.next
        return False

    def _is_known_view(self, node: fx.Node) -> bool:
        return isinstance(node.target, torch._ops.OpOverload) and is_view(node.target)

    # Calls

    def _call(
        self, operation: torch._ops.OpOverload, arguments: Sequence[Any], named: dict[str, Any], result: fx.Node | None
    ) -> None:
        known = self._known(tuple(self._with_cells(operation, arguments)))
        self.made.lines.append(Line(operation, known, self._known(dict(named)), result))

    def _with_cells(self, operation: torch._ops.OpOverload, arguments: Sequence[Any]) -> Iterator[Any]:
        """The arguments, with a tensor where a number stands for one. Its value is rounded as the kernel rounds it."""
        given = list(arguments)
        operand = next((one for one in given if isinstance(one, fx.Node)), None)
        value = None if operand is None else operand.meta["val"]
        for number, one in enumerate(given):
            parameter = operation._schema.arguments[number] if number < len(operation._schema.arguments) else None
            wants_tensor = parameter is not None and isinstance(parameter.type, torch.TensorType)
            is_number = isinstance(one, float) or (isinstance(one, fx.Node) and one in self.program.scalars)
            if wants_tensor and is_number:
                # With another operand the result's dtype would be another: a number has less say in it than a tensor.
                if isinstance(value, Tensor) and value.dtype in _OF_CELLS:
                    yield self._cell(one, value.dtype)
                else:
                    yield one
            else:
                yield one

    def _cell(self, number: float | fx.Node, dtype: torch.dtype) -> Tensor:
        key = (number, dtype)
        if key not in self.cells:
            self.cells[key] = torch.zeros((), dtype=dtype)
            if isinstance(number, fx.Node):
                self.made.cells.append((number, self.cells[key]))
            else:
                self.cells[key].fill_(number)
        return self.cells[key]

    def _known(self, arguments: Any) -> Any:
        """Arguments with the tensors that stay in place of their nodes."""

        def known(node: fx.Node) -> Any:
            node = self.renamed.get(node, node)
            return self.staying.get(node, node)

        return fx.node.map_arg(arguments, known)

    # What is known of nodes

    def _take_part(self, node: fx.Node) -> None:
        """One of several results."""
        (whole,), place = node.all_input_nodes, node.args[1]
        if whole in self.staying:
            self.staying[node] = self.staying[whole][place]
        else:
            self.made.lines.append(Line(operator.getitem, self._known(node.args), {}, node))

    def _inherit(self, node: fx.Node) -> None:
        if all(one in self.constants for one in node.all_input_nodes):
            self.constants.add(node)

    def _is_constant(self, node: fx.Node) -> bool:
        """Whether a result is the same at every call: nothing that varies goes into it, and nobody writes to it."""
        operation = node.target
        assert isinstance(operation, torch._ops.OpOverload)
        return (
            not operation._schema.is_mutable
            and not draws_random_numbers(node)
            and all(one in self.constants for one in node.all_input_nodes)
            and self.root[node] not in self.written
            and operation not in (aten.empty.memory_format, aten.empty_like.default)
            and isinstance(node.meta["val"], Tensor)
        )

    def _is_filled_like(self, node: fx.Node) -> bool:
        """`ones_like` and its kin: what their operand contains does not matter."""
        return node.target in _LIKE and self.root[node] not in self.written and len(node.all_input_nodes) == 1

    def _returns_staying(self, node: fx.Node) -> bool:
        """Whether an operation that writes in place gives back a tensor that stays."""
        written = written_by(node)
        return len(written) == 1 and written[0] in self.staying and isinstance(node.meta["val"], Tensor)


# What `relu` calls; it has an `out` form.
_WITH_BUFFER = {aten.relu.default: (aten.clamp_min.default, (0,))}
_SAME_VALUE = (aten.detach.default, aten.alias.default)
_OF_CELLS = (torch.float32, torch.float64)
_LIKE = (aten.ones_like.default, aten.zeros_like.default, aten.full_like.default)


def _called_on(view: fx.Node, tensor: Tensor) -> Tensor:
    """What a view operation gives for another operand."""
    operation = view.target
    assert isinstance(operation, torch._ops.OpOverload)
    with torch.no_grad():
        seen: Tensor = operation(*fx.node.map_arg(view.args, lambda _: tensor), **view.kwargs)
    return seen


__all__ = ["Line", "Plan", "plan"]
