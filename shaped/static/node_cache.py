"""Answers about a node of source that are kept with the node, and go when it goes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import TypeVar

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")


def kept_on_node(function: Callable[[N], T]) -> Callable[[N], T]:
    """Ask `function` once for each node. A cache of nodes would keep every tree that a long run ever read.

    >>> @kept_on_node
    ... def name(node: ast.Name) -> str:
    ...     print("asked")
    ...     return node.id
    >>> node = ast.Name("x")
    >>> name(node), name(node)
    asked
    ('x', 'x')
    """
    key = f"_{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def kept(node: N) -> T:
        known: dict[str, T] = node.__dict__
        if key not in known:
            known[key] = function(node)
        return known[key]

    return kept
