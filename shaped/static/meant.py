"""Whether a program says that it means what the rules on code that runs and is wrong would report."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shaped.errors import Fault
    from shaped.static.values import FunctionValue

_LIBRARIES: Final = frozenset(["torch", "F", "nn", "np", "math"])
# What gives the same for a tensor with and without axes of size 1.
_OF_ALL_ELEMENTS: Final = frozenset(
    ["all", "any", "item", "max", "mean", "min", "nelement", "numel", "prod", "std", "sum", "var"]
)
_WITH_A_NEW_SHAPE: Final = frozenset(["flatten", "ravel", "reshape", "reshape_as", "view", "view_as"])
_WITH_AXES_AGAIN: Final = frozenset(["atleast_1d", "atleast_2d", "atleast_3d", "flatten", "ravel"])


def is_meant(function: FunctionValue | None, node: ast.AST, fault: Fault) -> bool:
    """Whether the program means what a fault says of it.

    Args:
        function: the function under way.
        node: what the fault is reported at.
        fault: what was found.
    """
    if function is None:
        return False
    match fault.code:
        case "shape-axes":
            # It views elements across axes, and says so: a relative shift, a skew.
            name = function.name.rpartition(".")[2].lower()
            return "shift" in name or "skew" in name
        case "shape-broadcast" if fault.place is None:  # all pairs, not one row for all
            names = [str(dim) for dim in fault.dims if dim.constant is None]
            return any(_names_a_square(function.node, name) for name in names) or _is_of_one_tensor(node)
        case "shape-squeeze":
            return _is_shaped_again(function.node, node)
    return False


def _is_shaped_again(function: ast.AST, squeezed: ast.AST) -> bool:
    """Whether it does not matter which axes were dropped: `x.squeeze().view(-1)`, `x.squeeze().sum()`."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments) if value is squeezed:
                return method in _WITH_A_NEW_SHAPE or (
                    method in _OF_ALL_ELEMENTS and not arguments and not node.keywords
                )
            case ast.Call(func=ast.Attribute(attr=name), args=[value]) if value is squeezed:
                return name in _WITH_AXES_AGAIN or (name in _OF_ALL_ELEMENTS and not node.keywords)
    return False


def _names_a_square(function: ast.AST, name: str) -> bool:
    """Whether an annotation in the function has the name at two axes: all pairs are meant."""
    return any(
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
    """Whether both operands are made of the same one variable, whose elements are compared with each other.

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
