"""The program of a step with what it is tried out by, and faulty copies of programs."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, fx, nn
from torch.optim import Optimizer

from shaped.runtime import compile_step
from shaped.runtime.compiled import step as step_module
from shaped.runtime.compiled.checking import Trials
from shaped.runtime.compiled.choosing import choose
from shaped.runtime.compiled.program import Program
from shaped.runtime.compiled.writing import aten


def program_of_step(
    model: nn.Module, loss: Any, optimizer: Optimizer, inputs: tuple[Tensor, ...]
) -> tuple[Program, Trials]:
    """The program of a step, and its trials."""
    seen: list[tuple[Program, Trials]] = []

    def watch(program: Program, names: Any, trials: Trials, *rest: Any) -> Any:
        seen.append((program, trials))
        return choose(program, names, trials, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_module, "choose", watch)
        compile_step(model, loss, optimizer, inputs, backend="python")
    return seen[0]


_OTHER = {
    aten.add.Tensor: aten.sub.Tensor,
    aten.div.Tensor: aten.mul.Tensor,
    aten.mul_.Tensor: aten.add_.Tensor,
    aten.add_.Tensor: aten.sub_.Tensor,
    aten.addcmul_.default: aten.addcdiv_.default,
    aten.addcdiv_.default: aten.addcmul_.default,
    aten.sqrt.default: aten.abs.default,
    aten.relu.default: aten.abs.default,
}


def faulty_programs(program: Program) -> Iterator[tuple[str, Program]]:
    """Copies of a program with one fault each, and what it is."""
    for place, node in enumerate(program.operations):
        operation = node.target
        if isinstance(operation, torch._ops.OpOverload) and operation._schema.is_mutable:
            yield f"without {node.name}", _changed(program, place, _dropped)
        if operation in _OTHER:
            other = _OTHER[operation]
            yield f"{node.name} by {other}", _changed(program, place, lambda one, o=other: setattr(one, "target", o))
        for at, value in enumerate(node.args):
            if isinstance(value, float) or (isinstance(value, fx.Node) and value in program.scalars):
                yield f"{node.name} with another number", _changed(program, place, lambda one, at=at: _number(one, at))
        for name, value in node.kwargs.items():
            if isinstance(value, fx.Node) and value in program.scalars:
                changed = _changed(program, place, lambda one, name=name: one.update_kwarg(name, 0.11))
                yield f"{node.name} with another {name}", changed


def _number(node: fx.Node, place: int) -> None:
    node.update_arg(place, 0.11)


def _dropped(node: fx.Node) -> None:
    node.replace_all_uses_with(node.all_input_nodes[0])
    node.graph.erase_node(node)


def _changed(program: Program, place: int, change: Any) -> Program:
    graph = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    result = graph.graph_copy(program.graph, new)
    graph.output(result)
    made = Program(
        graph,
        tuple(new[node] for node in program.inputs),
        {new[node]: tensor for node, tensor in program.held.items()},
        tuple(new[node] for node in program.scalars),
        program.is_training,
    )
    change(made.operations[place])
    return made


def trials_of(trials: Trials, old: Program, new: Program) -> Trials:
    """The trials of a program for a copy of it."""
    by_name = {node.name: node for node in new.held}
    expected = [
        type(one)(one.outputs, {by_name[node.name]: value for node, value in one.held.items()})
        for one in trials.expected
    ]
    return Trials(trials.inputs, trials.scalars, expected)


# A line that computes a value: what it assigns to, the sign of the assignment, and the value.
_VALUE = re.compile(r"^(\s+(?:const float v_\w+|sum|total|totals\[\w+\]|p_\w+\[[^;]*\]) \+?= )(.*);$")


def faulty_sources(source: str) -> Iterator[tuple[str, str]]:
    """Copies of a C source with one fault each in what it computes, and the faulty line."""
    head, body = source.split("\nint run(", 1)
    lines = body.split("\n")
    for number, line in enumerate(lines):
        found = _VALUE.match(line)
        if found is None:
            continue
        target, value = found.groups()
        for changed in _changed_values(value):
            text = f"{target}{changed};"
            yield text.strip(), "\nint run(".join([head, "\n".join([*lines[:number], text, *lines[number + 1 :]])])


def _changed_values(value: str) -> Iterator[str]:
    """Other values: a term is missing, an operation or a number is another. Indices stay as they are."""
    pieces = re.split(r"(\[[^\]]*\])", value)
    for at in range(0, len(pieces), 2):
        for old, new in (
            (" * ", " + "),
            (" + ", " - "),
            (" - ", " + "),
            (" / ", " * "),
            ("2.0", "2.1"),
            ("sqrtf", "fabsf"),
        ):
            if old in pieces[at]:
                yield "".join([*pieces[:at], pieces[at].replace(old, new, 1), *pieces[at + 1 :]])
        for scalar in sorted(set(re.findall(r"\bs_\w+", pieces[at]))):
            yield "".join([*pieces[:at], pieces[at].replace(scalar, f"({scalar} * 1.01)"), *pieces[at + 1 :]])
    if value not in ("0", "1"):
        yield "0"


def name_of(pair: tuple[str, object]) -> str:
    """The name of a fault, for the name of a test."""
    return operator.itemgetter(0)(pair)
