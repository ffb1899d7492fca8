"""Who changes a value, as source says without being run: what is changed elsewhere is not what it was set to."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import chain

from shaped.static.free_names import Function, free_names_of, functions_in
from shaped.static.node_cache import kept_on_node
from shaped.static.walk import walk

# Methods that change the list, dictionary or container that they are called on.
_CHANGING = frozenset(
    [
        *("append", "extend", "insert", "pop", "popitem", "remove", "clear", "sort", "reverse", "update"),
        *("setdefault", "add", "add_module", "register_module", "discard", "appendleft", "popleft"),
    ]
)
_CONSTRUCTORS = ("__init__", "__post_init__")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@kept_on_node
def attributes_changed(node: ast.ClassDef) -> frozenset[str]:
    """The attributes of `self` that the methods of a class change, its constructor left out."""
    methods = [statement for statement in node.body if isinstance(statement, FunctionNode)]
    return frozenset().union(*(_attributes(method) for method in methods if method.name not in _CONSTRUCTORS))


def _attributes(method: FunctionNode) -> set[str]:
    first = method.args.args[0].arg if method.args.args else ""
    return {
        changed.attr
        for changed in map(_changed, walk(method))
        if isinstance(changed, ast.Attribute) and isinstance(changed.value, ast.Name) and changed.value.id == first
    }


@kept_on_node
def globals_changed(module: ast.Module) -> frozenset[str]:
    """The names that functions of a module change in its scope: declared `global`, or an object that they change."""
    names: set[str] = set()
    definitions = [node for node in module.body if isinstance(node, (FunctionNode, ast.ClassDef))]
    for node in chain.from_iterable(map(walk, definitions)):
        if isinstance(node, ast.Global):
            names.update(node.names)
        elif not isinstance(node, ast.Name) and isinstance(changed := _changed(node), ast.Name):
            names.add(changed.id)
    return frozenset(names)


@dataclass(frozen=True)
class ChangesBehind:
    """The names of a scope that change at times that are not seen, since a function inside it was given away.

    Args:
        objects: those whose list or dictionary it changes, as a hook that keeps what it is shown.
        names: those that it binds anew.
    """

    objects: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


NOTHING_BEHIND = ChangesBehind()


@kept_on_node
def changes_behind(scope: ast.Module | Function) -> ChangesBehind:
    """What functions of a module or function change in its scope whenever others call them.

    >>> changes_behind(ast.parse("seen = []; hook = lambda x: seen.append(x); model.register(hook)")).objects
    frozenset({'seen'})
    """
    given_away = _given_away(scope)
    objects: set[str] = set()
    names: set[str] = set()
    for function in functions_in(scope):
        if isinstance(function, FunctionNode) and function.name not in given_away and not function.decorator_list:
            continue
        free = free_names_of(function)
        for node in walk(function):
            if isinstance(node, (ast.Nonlocal, ast.Global)):
                names |= free.intersection(node.names)
            elif not isinstance(node, ast.Name) and isinstance(changed := _changed(node), ast.Name):
                objects |= free.intersection([changed.id])
    return ChangesBehind(frozenset(objects), frozenset(names))


def _given_away(scope: ast.AST) -> set[str]:
    """The names that are used for more than calling them."""
    nodes = walk(scope)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called
    }


@kept_on_node
def objects_changed(statement: ast.stmt) -> tuple[ast.Name | ast.Attribute, ...]:
    """The names and attributes whose objects a statement changes."""
    owners = [_changed(node) for node in walk(statement) if not isinstance(node, (ast.Name, ast.Attribute))]
    return tuple(owner for owner in owners if isinstance(owner, (ast.Name, ast.Attribute)))


def _changed(node: ast.AST) -> ast.expr | None:
    """The name or attribute that a node assigns to, deletes, or changes the object of."""
    if not isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.Name)):
        return None
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _CHANGING:
            return owner
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            return owner
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Name(ctx=ast.Store() | ast.Del()):
            return node
    return None
