"""Axes of arithmetic as Python expressions over the variables of generated code.

`{self.d}//2+b` becomes `field // 2 + size_b`, where the field is an int; what may mean something else as text than as a
value is left to `reference.evaluate`: a field that is a string, a power of a field that may be negative.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shaped.spec.axis_arithmetic import Computed

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Div, ast.Mod)
_MAY_RAISE = (ast.FloorDiv, ast.Div, ast.Mod)
_FUNCTIONS = ("min", "max", "int", "abs")
_FIELD = "ʄ"  # how `axis_arithmetic` starts the name that stands for a field


@dataclass(frozen=True)
class Inlined:
    """An axis of arithmetic as code.

    Args:
        fields: the expressions of its fields, over arguments.
        size: the expression of its size, over the names of axes and of fields.
        functions: the functions that it calls.
        may_raise: evaluating it may raise.
    """

    fields: tuple[ast.expr, ...]
    size: ast.expr
    functions: frozenset[str]
    may_raise: bool

    def text(self, fields: Sequence[str], variables: Mapping[str, str]) -> str:
        """The size with these variables for fields and names."""
        names = {f"{_FIELD}{i}": name for i, name in enumerate(fields)}
        return renamed(self.size, {**variables, **names})


def renamed(tree: ast.expr, names: Mapping[str, str]) -> str:
    """An expression as text, other expressions in place of its names; functions that it calls stay."""
    return ast.unparse(_Renamed(names).visit(ast.parse(ast.unparse(tree), mode="eval").body))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:  # ast's own name for it
        return ast.parse(self.names.get(node.id, node.id), mode="eval").body


def inlined(axis: Computed, parameters: frozenset[str]) -> Inlined | None:
    """An axis as code over the parameters; None where only `reference.evaluate` gives what jaxtyping gives."""
    if axis.tree is None or not all(axis.fields) or any(mark in axis.text for mark in "'\"\\"):
        return None
    fields = tuple(ast.parse(text, mode="eval").body for text in axis.fields)
    if not all(_is_plain_field(field, parameters) for field in fields):
        return None
    nodes = list(ast.walk(axis.tree))
    if not all(map(_is_plain, nodes)):
        return None
    divides = any(isinstance(node, ast.BinOp) and isinstance(node.op, _MAY_RAISE) for node in nodes)
    functions = frozenset(
        node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    return Inlined(fields, axis.tree, functions, bool(fields or functions or divides))


def _is_plain(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(op=op):
            return isinstance(op, _OPERATORS)
        case ast.UnaryOp(op=op):
            return isinstance(op, (ast.USub, ast.UAdd))
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in _FUNCTIONS
    return isinstance(node, (ast.Name, ast.operator, ast.unaryop, ast.expr_context))


_OF_FIELDS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call, ast.BinOp, ast.UnaryOp)
_PARTS = (ast.operator, ast.unaryop, ast.expr_context)


def _is_plain_field(field: ast.expr, parameters: frozenset[str]) -> bool:
    """Whether a field is an expression over parameters, without names of its own."""
    nodes = list(ast.walk(field))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    known = all(name in parameters or hasattr(builtins, name) for name in names)
    return known and all(isinstance(node, (*_OF_FIELDS, *_PARTS)) for node in nodes)
