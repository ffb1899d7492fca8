"""The order in which the nodes of an expression can be computed without a call inside a call for each level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.expr import Entry, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from shaped.spec.expr import Expr, Variable


def innermost_first(node: Node, definition_of: Callable[[Variable], Expr | None]) -> list[Node]:
    """The nodes that an expression is made of, also by way of definitions, each after what it is made of.

    Args:
        node: the expression or condition.
        definition_of: gives what the entries of a tensor are computed from, None where they are given.
    """
    done: dict[Node, None] = {}
    todo = [(node, False)]
    while todo:
        each, is_ready = todo.pop()
        if is_ready:
            done[each] = None
        elif each not in done:
            todo.append((each, True))
            body = definition_of(each.variable) if isinstance(each, Entry) else None
            todo += [(part, False) for part in each.parts() if isinstance(part, Node)]
            if body is not None:
                todo.append((body, False))
    return list(done)
