"""Functions of objects and functions: `isinstance`, `getattr`, `functools.partial`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.values import UNKNOWN
from shaped.static import comparisons, dataclass_fields, refinement
from shaped.static.arguments import Arguments
from shaped.static.copies import copied, shallow
from shaped.static.values import (
    Instance,
    Partial,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter


def _isinstance(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) != 2:
        return UNKNOWN
    answer = comparisons.is_instance(interpreter, *arguments.args)
    return UNKNOWN if answer is None else answer


def _hasattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if len(arguments.args) == 2 and isinstance(arguments.args[0], Instance) and isinstance(arguments.args[1], str):
        return True if arguments.args[1] in arguments.args[0].attributes else UNKNOWN
    return UNKNOWN


def _getattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.attributes import get_attribute

    if len(arguments.args) < 2 or not isinstance(arguments.args[1], str) or not isinstance(node, ast.expr):
        return UNKNOWN
    receiver, name = arguments.args[0], arguments.args[1]
    if len(arguments.args) == 3 and not (isinstance(receiver, Instance) and name in receiver.attributes):
        return UNKNOWN
    return get_attribute(interpreter, receiver, name, node)


def _vars(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.attributes import get_attribute

    if not arguments.args or not isinstance(node, ast.expr):
        return UNKNOWN
    return get_attribute(interpreter, arguments.args[0], "__dict__", node)


def _setattr(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    from shaped.static.attributes import set_attribute

    if len(arguments.args) == 3:
        receiver, name, value = arguments.args
        if isinstance(name, str):
            set_attribute(interpreter, receiver, name, value)
        elif isinstance(receiver, Instance):
            dataclass_fields.forget(interpreter, receiver)
    return None


def _type(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    value = arguments.args[0] if len(arguments.args) == 1 else UNKNOWN
    return value.cls if isinstance(value, Instance) else UNKNOWN


def _partial(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    if not arguments.args:
        return UNKNOWN
    return Partial(arguments.args[0], tuple(arguments.args[1:]), tuple(arguments.kwargs.items()))


def _copy(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return shallow(arguments.args[0]) if arguments.args else UNKNOWN


def _replace(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    instance = arguments.args[0] if arguments.args else UNKNOWN
    return dataclass_fields.replaced(interpreter, instance, arguments) if isinstance(instance, Instance) else UNKNOWN


def _deep_copy(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return copied(arguments.args[0]) if arguments.args else UNKNOWN


def _first(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """Functions that give back what they are given: `shaped.checked(model)`, `cast(T, x)` (its last argument)."""
    return arguments.args[0] if arguments.args else UNKNOWN


def _last(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    return arguments.args[-1] if arguments.args else UNKNOWN


def _items(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`shaped.TList(*items)` is a tuple."""
    return tuple(arguments.args)


def _check(interpreter: Interpreter, arguments: Arguments, node: ast.AST) -> StaticValue:
    """`torch._check(condition)`: what it demands holds behind it."""
    if isinstance(node, ast.Call) and node.args:
        refinement.refine(interpreter, node.args[0], True)
    return None


FUNCTIONS: dict[str, Builtin] = {
    "builtins.isinstance": _isinstance,
    "builtins.hasattr": _hasattr,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.object.__setattr__": _setattr,
    "builtins.vars": _vars,
    "builtins.type": _type,
    "functools.partial": _partial,
    "shaped.checked": _first,
    "shaped.init.init_module": _first,
    "shaped.TList": _items,
    "typing.cast": _last,
    "dataclasses.replace": _replace,
    "copy.copy": _copy,
    "copy.deepcopy": _deep_copy,
    "torch._check": _check,
    "torch._assert": _check,
}
