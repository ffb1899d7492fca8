"""`q, k, v = x.chunk(3)`: as many names as pieces."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.values import TensorType
from shaped.static.values import External, ListValue, StaticValue

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

_CUTS = frozenset(["chunk", "split", "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit", "unbind"])


def check_count(interpreter: Interpreter, node: ast.Assign, value: StaticValue) -> None:
    """Report an unpacking of the pieces of a tensor, or of its rows, into more or fewer names than there are.

    Of other tuples nothing is said: they are no tensors' business.
    """
    target = node.targets[0]
    if not isinstance(target, (ast.Tuple, ast.List)):
        return
    starred = any(isinstance(element, ast.Starred) for element in target.elts)
    names = len(target.elts) - starred
    if isinstance(value, TensorType):
        count = value.shape.at(0) if value.shape.rank and not value.joined else None
        rows = None if count is None else count.constant
        if rows is not None and (rows < names or (rows != names and not starred)):
            interpreter.fault(node, _fault(rows, "row", names, str(value)))
        return
    content = value.content if isinstance(value, ListValue) else value
    if starred and isinstance(content, tuple) and len(content) < names and _is_shape(node.value):
        interpreter.fault(node, _fault(len(content), "size", names, ""))
        return
    if not isinstance(content, tuple) or len(content) == names or (starred and len(content) > names):
        return
    cut = _cut(node.value)
    if cut is None or not _is_of_tensor(interpreter, cut):
        return
    if cut.attr == "chunk" and len(content) > names and not interpreter.context.certain:
        return  # of an axis of few elements there are fewer chunks
    interpreter.fault(node, _fault(len(content), "piece", names, ""))


def _is_shape(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"), args=[]):
            return True
    return False


def _fault(count: int, what: str, names: int, operands: str) -> ShapeError:
    there = f"1 {what}" if count == 1 else f"{count} {what}s"
    into = "1 name" if names == 1 else f"{names} names"
    return ShapeError("unpack", f"{there} into {into}", operands, dims=(Dim.of(count),))


def _cut(node: ast.expr) -> ast.Attribute | None:
    """The `x.chunk` of a call, or of one whose pieces are gone through one by one: `[f(t) for t in x.chunk(3)]`."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) as function) if name in _CUTS:
            return function
        case ast.Call(func=ast.Name(id="map"), args=[_, source]):
            return _cut(source)
        case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed"), args=[source]):
            return _cut(source)
        case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]) if not generator.ifs:
            return _cut(generator.iter)
    return None


def _is_of_tensor(interpreter: Interpreter, function: ast.Attribute) -> bool:
    """Whether a method is a tensor's, or a function torch's: other objects have methods of these names too."""
    found: list[StaticValue] = []
    interpreter.trial(lambda: found.append(interpreter.evaluate_present(function.value)))
    (owner,) = found
    return isinstance(owner, TensorType) or (isinstance(owner, External) and owner.name.startswith("torch"))
