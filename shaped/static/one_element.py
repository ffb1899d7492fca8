"""Where Python asks a tensor for one number: `int(x)`, `float(x)`, and the truth of `if x:`, `not x`, `x and y`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.errors import Fault
from shaped.spec.op import find_op
from shaped.spec.values import TensorType
from shaped.static import operators
from shaped.static.values import StaticValue

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def require_number(interpreter: Interpreter, value: StaticValue, method: str) -> None:
    """Refuse a tensor that has another number of elements than 1 for all sizes.

    Args:
        value: what is asked; it may be no tensor.
        method: how Python asks: `__int__`, `__float__` or `__bool__`.

    Raises:
        ShapeError: it is such a tensor.
    """
    if isinstance(value, TensorType) and (op := find_op(f"Tensor.{method}")):
        op.apply(interpreter.context, (value,), {})


def check_truth(interpreter: Interpreter, node: ast.expr, value: StaticValue) -> None:
    """Report a condition whose value is a tensor that has no truth."""
    try:
        require_number(interpreter, value, "__bool__")
    except Fault as fault:
        interpreter.fault(node, fault)


def check_compared(interpreter: Interpreter, node: ast.Compare, values: list[StaticValue]) -> None:
    """Report a condition such as `x > 0` or `0 < x < 1` that compares tensors element by element."""
    for op, left, right in zip(node.ops, values, values[1:]):
        if isinstance(left, TensorType) or isinstance(right, TensorType):
            try:
                compared = operators.compare(interpreter, op, left, right)
            except Fault as fault:
                interpreter.fault(node, fault)
            else:
                check_truth(interpreter, node, compared)
