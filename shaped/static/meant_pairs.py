"""Whether a program says that it wants all pairs: what else would be a broadcast by accident (`silent_broadcast`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.errors import Fault

_LIBRARIES: Final = frozenset(["torch", "F", "nn", "np", "math"])


def are_meant(function: ast.AST | None, node: ast.AST, fault: Fault) -> bool:
    """Whether the pairs that a fault is about are meant.

    They are if an annotation in the function has their name twice, `Float[Tensor, "n n"]`, or a tensor is paired with
    itself: `x - x[:, 0]`.
    """
    if fault.code != "shape-broadcast" or not fault.dims:
        return False
    return _names_a_square(function, str(fault.dims[0])) or _is_of_one_tensor(node)


def _names_a_square(function: ast.AST | None, name: str) -> bool:
    """Whether an annotation in the function has the name at two axes."""
    return function is not None and any(
        isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.split().count(name) > 1
        for annotation in _annotations(function)
        for part in ast.walk(annotation)
    )


def _annotations(function: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.FunctionDef(returns=ast.expr() as annotation):
                yield annotation


def _is_of_one_tensor(node: ast.AST) -> bool:
    """Whether the operands are all made of the same one variable.

    >>> [_is_of_one_tensor(ast.parse(text, mode="eval").body) for text in ("x - x[:, 0]", "x.eq(x.view(-1))", "x - y")]
    [True, True, False]
    """
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Compare(left=left, comparators=[right]):
            operands = [left, right]
        case ast.Call(func=ast.Attribute(value=receiver), args=[right]):
            operands = [receiver, right]
        case ast.Call(args=[left, right]):
            operands = [left, right]
        case _:
            return False
    first, second = (set(_variables(operand)) for operand in operands)
    return first == second and len(first) == 1 and first != {"self"}


def _variables(node: ast.AST) -> Iterator[str]:
    """The variables of an expression, as written: `x`, `self.x`, `batch.x`; without the methods that are called."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Call(func=ast.Attribute(value=ast.Name()) as function) if ast.unparse(function.value) in _LIBRARIES:
            for argument in node.args:
                yield from _variables(argument)
        case ast.Call(func=ast.Attribute(value=receiver)):
            for part in (receiver, *node.args):
                yield from _variables(part)
        case ast.Attribute(value=owner, attr="T" | "mT" | "H" | "mH" | "data" | "shape"):
            yield from _variables(owner)
        case ast.Attribute():
            yield ast.unparse(node)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _variables(child)
