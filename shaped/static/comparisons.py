"""Whether values are equal, in order, true: decided where it is the same for all sizes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.facts import Status
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static import dtype_conditions
from shaped.static.values import (
    Claim,
    ClassValue,
    Container,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ListValue,
    Maybe,
    Opaque,
    SourceModule,
    StaticValue,
    as_dim,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


_ON_INTS = (ast.Eq, ast.NotEq, ast.Lt, ast.Gt, ast.LtE, ast.GtE)


def truth_of(value: StaticValue) -> bool | None:
    """Whether a value counts as true, None if it is not known."""
    match value:
        case bool():
            return value
        case None:
            return False
        case str() | tuple():
            return bool(value)
        case float():
            return None if value != value else bool(value)  # nan stands for a float that was not followed
        case Dim():
            return bool(value.constant) if value.constant is not None else None
        case ListValue(content=tuple() as content) | Container(content=tuple() as content):
            return bool(content)
        case DictValue(items=items, complete=True):
            return bool(items)
        case FunctionValue() | ClassValue() | SourceModule():
            return True
        case Instance():
            return True if value.cls.find("__len__") is None and value.cls.find("__bool__") is None else None
    return None


def claim(ops: list[ast.cmpop], values: list[StaticValue]) -> Claim | None:
    """A comparison of ints as a value, None for other comparisons."""
    if len(ops) != 1 or type(ops[0]) not in _ON_INTS:
        return None
    left, right = as_dim(values[0]), as_dim(values[1])
    return None if left is None or right is None else Claim(((type(ops[0]), left, right),))


def claim_truth(interpreter: Interpreter, value: Claim) -> bool | None:
    """Whether a claim holds on the path under way."""
    answers = [_pair_truth(interpreter, op(), left, right) for op, left, right in value.parts]
    return False if False in answers else None if None in answers else True


def comparison_truth(interpreter: Interpreter, ops: list[ast.cmpop], values: list[StaticValue]) -> bool | None:
    """Whether `a op b op c` holds for these values."""
    answers = [_pair_truth(interpreter, op, a, b) for op, a, b in zip(ops, values, values[1:])]
    if False in answers:
        return False
    return None if None in answers else True


def _pair_truth(interpreter: Interpreter, op: ast.cmpop, a: StaticValue, b: StaticValue) -> bool | None:
    match op:
        case ast.Is():
            return _is(a, b)
        case ast.IsNot():
            answer = _is(a, b)
            return None if answer is None else not answer
        case ast.In():
            return _contains(interpreter, b, a)
        case ast.NotIn():
            answer = _contains(interpreter, b, a)
            return None if answer is None else not answer
        case ast.Eq():
            return equal(interpreter, a, b)
        case ast.NotEq():
            answer = equal(interpreter, a, b)
            return None if answer is None else not answer
    left, right = as_dim(a), as_dim(b)
    if (isinstance(a, float) and isinstance(b, float)) or (isinstance(a, float) and right is not None):
        return _compare_floats(op, a, right.constant if right is not None else b)
    if left is not None and isinstance(b, float):
        return _compare_floats(op, left.constant, b)
    if left is None or right is None:
        return None
    match op:
        case ast.GtE():
            return _at_least(interpreter, left, right)
        case ast.LtE():
            return _at_least(interpreter, right, left)
        case ast.Gt():
            return _at_least(interpreter, left, right + 1)
        case ast.Lt():
            return _at_least(interpreter, right, left + 1)
    return None


def _compare_floats(op: ast.cmpop, a: StaticValue | int, b: StaticValue | int) -> bool | None:
    if not isinstance(a, (int, float)) or not isinstance(b, (int, float)) or a != a or b != b:
        return None
    match op:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
    return None


def _at_least(interpreter: Interpreter, a: Dim, b: Dim) -> bool | None:
    status = interpreter.context.facts.at_least(a, b).status
    return True if status is Status.PROVED else False if status is Status.NEVER else None


def _is(a: StaticValue, b: StaticValue) -> bool | None:
    if a is None and b is None:
        return True
    if a is None or b is None:
        other = b if a is None else a
        return None if other is UNKNOWN or isinstance(other, (Maybe, Opaque)) else False
    if isinstance(a, bool) and isinstance(b, bool):
        return a is b
    return None


def _contains(interpreter: Interpreter, container: StaticValue, item: StaticValue) -> bool | None:
    if isinstance(container, DictValue) and isinstance(item, str):
        return True if item in container.items else False if container.complete else None
    if isinstance(container, ListValue):
        container = container.content if isinstance(container.content, tuple) else UNKNOWN
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    if isinstance(container, tuple):
        answers = [equal(interpreter, item, other) for other in container]
        if True in answers:
            return True
        return None if None in answers else False
    return None


def equal(interpreter: Interpreter, a: StaticValue, b: StaticValue) -> bool | None:
    """Whether two values are equal, None if they may or may not be."""
    if isinstance(a, bool) and isinstance(b, bool):
        return a == b
    left, right = as_dim(a), as_dim(b)
    if left is not None and right is not None:
        status = interpreter.context.facts.compare(left, right).status
        return True if status is Status.PROVED else False if status is Status.NEVER else None
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        a, b = (value.content if isinstance(value.content, tuple) else UNKNOWN for value in (a, b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        answers = [equal(interpreter, x, y) for x, y in zip(a, b)]
        return False if False in answers else None if None in answers else True
    if a is None or b is None:
        return _is(a, b)
    return dtype_conditions.equal(a, b)


def is_instance(interpreter: Interpreter, value: StaticValue, cls: StaticValue) -> bool | None:
    """`isinstance(value, cls)`, None if it is not known."""
    if isinstance(cls, tuple):
        answers = [is_instance(interpreter, value, one) for one in cls]
        return True if True in answers else None if None in answers else False
    name = cls.name if isinstance(cls, External) else ""
    match value:
        case TensorType():
            if name in ("torch.Tensor", "torch.nn.Parameter"):
                return True if name == "torch.Tensor" else None
            return (
                False
                if name
                in (
                    "builtins.int",
                    "builtins.float",
                    "builtins.str",
                    "builtins.tuple",
                    "builtins.list",
                    "builtins.dict",
                )
                else None
            )
        case Instance() if isinstance(cls, ClassValue):
            return True if cls in value.cls.ancestors() else None
        case bool():
            return name in ("builtins.bool", "builtins.int") if name.startswith("builtins.") else None
        case Dim() if value.constant is not None:
            return name == "builtins.int" if name.startswith("builtins.") else None
        case str():
            return name == "builtins.str" if name.startswith("builtins.") else None
        case None:
            return False if name.startswith(("builtins.", "torch.")) else None
        case tuple():
            return name == "builtins.tuple" if name.startswith("builtins.") else None
        case ListValue():
            return name == "builtins.list" if name.startswith("builtins.") else None
    return None
