"""A graph of ATen operations read over residues."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx

from shaped.verify.exact import aten, field
from shaped.verify.exact.aten.complex_numbers import find_complex_rule
from shaped.verify.exact.aten.registry import UnsupportedError, find_rule
from shaped.verify.exact.branches import Branches, recording
from shaped.verify.exact.complex_value import ComplexValue, complex_lift
from shaped.verify.exact.value import Value, lift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shaped.verify.exact.trace import Joint

__all__ = ["aten", "read"]


def read(joint: Joint, arguments: Sequence[Value], branches: Branches, generator: torch.Generator) -> list[Any]:
    """The results, with tangents, and the gradients, without.

    Args:
        joint: the graph.
        arguments: the upstream gradients and the inputs.
        branches: records the comparisons.
        generator: draws residues for random numbers of the function.

    Raises:
        UnsupportedError: an operation has no rule.
    """
    graph = joint.module.graph
    differentiated = _ancestors(joint.results)
    dependent: set[fx.Node] = set()
    environment: dict[fx.Node, Any] = {}
    given = iter([*arguments, *(_plain(one) for one in joint.constants)])
    inputs = set([node for node in graph.nodes if node.op == "placeholder"][: len(arguments)])
    last_use = _last_uses(graph)
    with recording(branches), torch.no_grad():
        for node in graph.nodes:
            if node.op == "output":
                result = fx.map_arg(node.args[0], environment.__getitem__)
                return [*result] if isinstance(result, (list, tuple)) else [result]
            if node.op == "placeholder":
                environment[node] = next(given)
                if node in inputs:
                    dependent.add(node)
                continue
            if any(one in dependent for one in node.all_input_nodes):
                dependent.add(node)
            branches.node, branches.depends = f"{node.name}:{node.target}", node in dependent
            keeps_tangent = node in differentiated

            def value_of(one: fx.Node, keeps_tangent: bool = keeps_tangent) -> Any:
                return environment[one] if keeps_tangent else _without_tangent(environment[one])

            positional = fx.map_arg(node.args, value_of)
            named = fx.map_arg(node.kwargs, value_of)
            environment[node] = _apply(node, positional, named, generator)
            for one in last_use.get(node, ()):
                del environment[one]
    raise AssertionError("a graph ends with its output")


def _apply(node: fx.Node, positional: Any, named: Any, generator: torch.Generator) -> Any:
    """One operation."""
    if node.target is operator.getitem:
        return positional[0][positional[1]]
    operation = node.target
    if not isinstance(operation, torch._ops.OpOverload):
        raise UnsupportedError(str(operation))
    arguments = _flat([positional, named])
    names = operation.overloadpacket.__name__, operation._overloadname
    is_complex = any(isinstance(one, ComplexValue) for one in arguments)
    rule = find_complex_rule(*names) if is_complex else find_rule(*names)
    if rule is None and torch.Tag.nondeterministic_seeded in operation.tags:
        return _random(operation, positional, named, generator)
    if not any(isinstance(one, (Value, ComplexValue)) for one in arguments):
        return _plain(operation(*positional, **named))
    if rule is None:
        raise UnsupportedError(str(operation))
    try:
        return rule(*positional, **named)
    except UnsupportedError:
        raise
    except (AssertionError, IndexError, OverflowError, RuntimeError, TypeError, ValueError) as error:
        raise UnsupportedError(f"{operation} ({type(error).__name__}: {str(error).splitlines()[0]})") from error


def _random(operation: Any, positional: Any, named: Any, generator: torch.Generator) -> Any:
    """Random numbers of the function: residues of their own, but 0 and 1 as they are."""

    def shadow(one: Any) -> Any:
        return one.shadow if isinstance(one, Value) else one

    drawn = operation(*torch.utils._pytree.tree_map(shadow, positional), **torch.utils._pytree.tree_map(shadow, named))
    if not isinstance(drawn, Tensor):
        raise UnsupportedError(str(operation))
    if not drawn.is_floating_point() or bool((drawn == drawn.round()).all()):
        return _plain(drawn)
    return Value(drawn.double(), field.random(drawn.shape, generator))


def _plain(result: Any) -> Any:
    """Floating tensors that depend on no input, as constants."""
    if isinstance(result, Tensor):
        if result.is_complex():
            return complex_lift(result)
        return lift(result) if result.is_floating_point() else result
    if isinstance(result, (list, tuple)):
        return [_plain(one) for one in result]
    return result


def _without_tangent(value: Any) -> Any:
    if isinstance(value, (Value, ComplexValue)):
        return value.without_tangent
    if isinstance(value, (list, tuple)):
        return [_without_tangent(one) for one in value]
    return value


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in _flat(one)]
    return [value]


def _ancestors(nodes: Sequence[fx.Node]) -> set[fx.Node]:
    """The nodes that these depend on, and they."""
    found: set[fx.Node] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes.extend(node.all_input_nodes)
    return found


def _last_uses(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """The nodes that are used for the last time, by the node that uses them."""
    seen: set[fx.Node] = set()
    last: dict[fx.Node, list[fx.Node]] = {}
    for node in reversed(list(graph.nodes)):
        for one in node.all_input_nodes:
            if one not in seen:
                seen.add(one)
                last.setdefault(node, []).append(one)
    return last
