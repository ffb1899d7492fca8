"""The names that functions read from the scopes around them: what a call's result depends on beside its arguments."""

from __future__ import annotations

import ast

from shaped.static.node_cache import kept_on_node
from shaped.static.walk import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@kept_on_node
def free_names(root: ast.AST) -> frozenset[str]:
    """The names that the functions of a module or function read from outside themselves.

    >>> sorted(free_names(ast.parse("n = 1; def f(a): return lambda b: a + b + n".replace("; ", chr(10)))))
    ['n']
    """
    return frozenset().union(*(free_names_of(function) for function in functions_in(root)))


@kept_on_node
def holds_functions(node: Function) -> bool:
    """Whether a function defines others, which see its names."""
    return bool(functions_in(node))


def functions_in(root: ast.AST) -> list[Function]:
    """The functions of a module or function that are in no other function of it."""
    found: list[Function] = []
    pending = list(children(root))
    while pending:
        node = pending.pop()
        if isinstance(node, FUNCTIONS):
            found.append(node)
        else:
            pending.extend(children(node))
    return found


def free_names_of(function: Function) -> frozenset[str]:
    """The names that one function reads from outside itself."""
    read: set[str] = set()
    bound = {node.arg for node in walk(function.args) if isinstance(node, ast.arg)}
    elsewhere: set[str] = set()
    body = function.body if isinstance(function.body, list) else [function.body]
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                read |= free_names_of(node)
                bound |= {node.name} if not isinstance(node, ast.Lambda) else set()
                continue
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name):
                bound.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                elsewhere.update(names)
        pending.extend(children(node))
    return frozenset((read - bound) | elsewhere)
