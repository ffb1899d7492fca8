"""Conditions on dtypes: `x.dtype == torch.bool`, `torch.is_floating_point(x)`; whether they hold, what they teach."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.spec.dtypes import ANY, COMPLEX, FLOATS, DType
from shaped.spec.values import TensorType
from shaped.static import assignment
from shaped.static.lowering import dtype_of_torch
from shaped.static.values import External, ListValue, Maybe, StaticValue, present

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

_KINDS = {"is_floating_point": FLOATS, "is_complex": COMPLEX}


def as_dtype(value: StaticValue) -> DType | None:
    """A value as a dtype: of a tensor, or by its name in torch."""
    if isinstance(value, DType):
        return value
    return dtype_of_torch(value) if isinstance(value, External) else None


def equal(a: StaticValue, b: StaticValue) -> bool | None:
    """Whether two dtypes are the same, None if that is open or one is no dtype."""
    left, right = as_dtype(a), as_dtype(b)
    if left is None or right is None:
        return None
    if not left.names & right.names:
        return False
    return True if left.single is not None and left == right else None


def learn_comparison(interpreter: Interpreter, left: ast.expr, op: ast.cmpop, value: StaticValue) -> bool:
    """Make the path know that `x.dtype op value` holds; False if the condition is another."""
    if not isinstance(left, ast.Attribute) or left.attr != "dtype":
        return False
    if isinstance(value, ListValue):
        value = value.content if isinstance(value.content, tuple) else None
    dtypes = [as_dtype(one) for one in (value if isinstance(value, tuple) else (value,))]
    known = [dtype for dtype in dtypes if dtype is not None]
    if len(known) < len(dtypes):
        return False
    match op:
        case ast.Eq() | ast.In():
            return _keep(interpreter, left.value, frozenset().union(*(dtype.names for dtype in known)))
        case ast.NotEq() | ast.NotIn():
            excluded = frozenset(dtype.single for dtype in known if dtype.single is not None)
            return _keep(interpreter, left.value, ANY - excluded)
    return False


def learn_call(interpreter: Interpreter, test: ast.expr, positive: bool) -> bool:
    """Make the path know the answer of `torch.is_floating_point(x)` or `x.is_floating_point()`."""
    match test:
        case ast.Call(func=ast.Attribute(attr=name), args=[tensor]) if name in _KINDS:
            pass
        case ast.Call(func=ast.Attribute(value=tensor, attr=name), args=[]) if name in _KINDS:
            pass
        case _:
            return False
    return _keep(interpreter, tensor, _KINDS[name] if positive else ANY - _KINDS[name])


def _keep(interpreter: Interpreter, node: ast.expr, names: frozenset[str]) -> bool:
    """Leave the tensor those of its dtypes that are among `names`."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return True
    with interpreter.quietly():
        held = interpreter.evaluate(node)
    tensor = present(held)
    if isinstance(tensor, TensorType):
        left = tensor.dtype.names & names
        if left and left != tensor.dtype.names:
            narrowed = replace(tensor, dtype=DType(left))
            assignment.assign(interpreter, node, Maybe(narrowed) if isinstance(held, Maybe) else narrowed)
    return True
