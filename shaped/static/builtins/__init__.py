"""Python's built-in functions, and those of math, functools and torch that are no operations."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static.arguments import Arguments, forget_arguments
from shaped.static.builtins import collections, iterators, numbers, objects, queries, transforms
from shaped.static.builtins.collections import distinct
from shaped.static.values import ArrayValue, External, StaticValue, present

if TYPE_CHECKING:
    from shaped.static.builtins.kind import Builtin
    from shaped.static.interpreter import Interpreter

_PYTHON_NAMES = frozenset(
    [
        *("abs", "all", "any", "bool", "callable", "dict", "divmod", "enumerate", "filter", "float"),
        *("frozenset", "getattr", "hasattr", "id", "int", "isinstance", "issubclass", "iter", "len", "list"),
        *("map", "max", "min", "next", "object", "open", "print", "property", "range", "repr", "reversed"),
        *("round", "set", "setattr", "slice", "sorted", "staticmethod", "classmethod", "str", "sum", "super"),
        *("tuple", "type", "zip", "vars", "pow", "delattr", "bytes", "complex", "format", "hash", "input"),
        *("memoryview", "NotImplemented", "NotImplementedError", "Exception", "ValueError", "RuntimeError"),
        *("TypeError", "KeyError", "IndexError", "AssertionError", "AttributeError", "StopIteration"),
        *("ImportError", "ModuleNotFoundError", "Warning"),
    ]
)


_OF_ANY_ARGUMENTS = frozenset(["dataclasses.replace"])  # functions that say something even of `**changes`


def builtin(name: str) -> StaticValue:
    """A built-in name."""
    if name == "__name__":
        return UNKNOWN
    return External(f"builtins.{name}") if name in _PYTHON_NAMES else UNKNOWN


def call(interpreter: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> StaticValue:
    """A call of a built-in function; UNKNOWN for those that say nothing about shapes."""
    function = FUNCTIONS.get(name)
    if function is None or not (arguments.complete or name in _OF_ANY_ARGUMENTS):
        if name not in ("builtins.print", "builtins.repr", "builtins.str", "builtins.id", "builtins.hash"):
            forget_arguments(interpreter, arguments)
        return UNKNOWN
    arguments.args = [present(value) for value in arguments.args]
    return function(interpreter, arguments, node)


def reveal(interpreter: Interpreter, node: ast.Call, args: list[StaticValue]) -> StaticValue:
    """`shaped.reveal_shape(x)`: a note with the shape as jaxtyping writes it."""
    interpreter.note(node, f"Revealed shape is {_described(interpreter, args[0] if args else UNKNOWN)}")
    return args[0] if args else UNKNOWN


def _described(interpreter: Interpreter, value: StaticValue) -> str:
    """A shape as jaxtyping writes it, or those of a tuple's items."""
    value = present(value)
    if isinstance(value, ArrayValue):
        value = value.tensor
    if isinstance(value, TensorType):
        return f'"{interpreter.known_shape(value.shape).annotation()}"'
    if isinstance(value, tuple) and value:
        inner = ", ".join(_described(interpreter, item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return "int" if isinstance(value, Dim) else '"..."'


FUNCTIONS: dict[str, Builtin] = {
    **queries.FUNCTIONS,
    **numbers.FUNCTIONS,
    **collections.FUNCTIONS,
    **iterators.FUNCTIONS,
    **objects.FUNCTIONS,
    **transforms.FUNCTIONS,
}

__all__ = ["FUNCTIONS", "builtin", "call", "distinct", "reveal"]
