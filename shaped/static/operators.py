"""Operators on tensors, ints, floats, tuples and strings."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.dtypes import ANY_DTYPE, FLOATS
from shaped.spec.op import find_op
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Ratio, TensorType
from shaped.static import arrays
from shaped.static.lowering import lift, lower
from shaped.static.values import (
    ArrayValue,
    ListValue,
    ManyValue,
    Opaque,
    ShapeValue,
    StaticValue,
    as_dim,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

NOT_FOLLOWED = float("nan")  # stands for a float that was not followed

_NAMES: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_ON_FLOATS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_LARGEST_POWER = 8
MOST_BITS = 64  # of an int that is followed


def binary(interpreter: Interpreter, op: ast.operator, a: StaticValue, b: StaticValue) -> StaticValue:
    """`a op b`."""
    a, b = present(a), present(b)
    name = _NAMES[type(op)]
    if isinstance(a, ArrayValue) or isinstance(b, ArrayValue):
        return arrays.binary(interpreter, op, a, b)
    if isinstance(a, TensorType):
        return _tensor(interpreter, f"Tensor.__{name}__", a, b)
    if isinstance(b, TensorType):
        return _tensor(interpreter, f"Tensor.__r{name}__", b, a)
    if isinstance(a, float) or isinstance(b, float):
        return _floats(op, a, b)
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        return _ratios(op, a, b)
    if isinstance(op, ast.Add) and (joined := _concatenate(interpreter, a, b)) is not None:
        return joined
    if isinstance(op, ast.Mult) and (repeated := _repeat(interpreter, a, b)) is not None:
        return repeated
    if isinstance(a, str) or isinstance(b, str):
        return UNKNOWN
    left, right = as_dim(a), as_dim(b)
    if left is None or right is None:
        return UNKNOWN
    if isinstance(a, bool) and isinstance(b, bool) and isinstance(op, (ast.BitAnd, ast.BitOr)):
        return (a and b) if isinstance(op, ast.BitAnd) else (a or b)
    return ints(interpreter, op, left, right)


def ints(interpreter: Interpreter, op: ast.operator, a: Dim, b: Dim) -> StaticValue:
    """`a op b` of two ints; a constant that is too large for a size is not followed."""
    result = _ints(interpreter, op, a, b)
    constant = result.constant if isinstance(result, Dim) else None
    return UNKNOWN if constant is not None and constant.bit_length() > MOST_BITS else result


def _ints(interpreter: Interpreter, op: ast.operator, a: Dim, b: Dim) -> StaticValue:
    context = interpreter.context
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.FloorDiv() | ast.Mod() if b.constant == 0:
            return UNKNOWN
        case ast.FloorDiv():
            context.facts = context.facts.with_intended(a, b)
            return context.facts.normalize(a // b)
        case ast.Mod():
            return context.facts.normalize(a % b)
        case ast.Div():
            if b.constant == 0:
                return UNKNOWN
            if a.constant is not None and b.constant is not None:
                return a.constant / b.constant
            return Ratio(a, b)
        case ast.Pow():
            power = b.constant
            if a.constant == 0 and power is not None and power < 0:
                return UNKNOWN
            if a.constant is not None and power is not None and abs(power) < 64:
                result = a.constant**power
                return Dim.of(result) if isinstance(result, int) else float(result)
            return a**power if power is not None and 0 <= power <= _LARGEST_POWER else UNKNOWN
    if a.constant is not None and b.constant is not None:
        return _constant_bits(op, a.constant, b.constant)
    return UNKNOWN


def _constant_bits(op: ast.operator, a: int, b: int) -> StaticValue:
    match op:
        case ast.BitAnd():
            return Dim.of(a & b)
        case ast.BitOr():
            return Dim.of(a | b)
        case ast.BitXor():
            return Dim.of(a ^ b)
        case ast.LShift() if 0 <= b < 64:
            return Dim.of(a << b)
        case ast.RShift() if b >= 0:
            return Dim.of(a >> b)
    return UNKNOWN


def _floats(op: ast.operator, a: StaticValue, b: StaticValue) -> StaticValue:
    left, right = _as_float(a), _as_float(b)
    if left is None or right is None:
        return UNKNOWN
    function = _ON_FLOATS.get(type(op))
    if function is None:
        return UNKNOWN
    try:
        result = function(left, right)
    except (ArithmeticError, ValueError):
        return NOT_FOLLOWED
    return result


def _as_float(value: StaticValue) -> float | None:
    if isinstance(value, float):
        return value
    if isinstance(value, (Ratio, Opaque)):
        return NOT_FOLLOWED
    dim = as_dim(value)
    if dim is None:
        return None
    return NOT_FOLLOWED if dim.constant is None else float(dim.constant)


def _ratios(op: ast.operator, a: StaticValue, b: StaticValue) -> StaticValue:
    left, right = _as_ratio(a), _as_ratio(b)
    if left is None or right is None:
        return UNKNOWN
    match op:
        case ast.Mult():
            return ratio(left.numerator * right.numerator, left.denominator * right.denominator)
        case ast.Div() if right.numerator != 0:
            return ratio(left.numerator * right.denominator, left.denominator * right.numerator)
        case ast.Add() | ast.Sub():
            other = right.numerator * left.denominator
            total = left.numerator * right.denominator
            numerator = total + other if isinstance(op, ast.Add) else total - other
            return ratio(numerator, left.denominator * right.denominator)
    return NOT_FOLLOWED


def _as_ratio(value: StaticValue) -> Ratio | None:
    if isinstance(value, Ratio):
        return value
    dim = as_dim(value)
    return None if dim is None else Ratio(dim, Dim.of(1))


def ratio(numerator: Dim, denominator: Dim) -> Ratio:
    """numerator / denominator, cancelled where the denominator divides."""
    whole = numerator // denominator
    return Ratio(whole, Dim.of(1)) if whole * denominator == numerator else Ratio(numerator, denominator)


def _concatenate(interpreter: Interpreter, a: StaticValue, b: StaticValue) -> StaticValue | None:
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    if isinstance(a, ShapeValue) or isinstance(b, ShapeValue):
        shapes = [_as_shape(value) for value in (a, b)]
        if shapes[0] is None or shapes[1] is None or (shapes[0].pack and shapes[1].pack):
            return UNKNOWN
        return ShapeValue(shapes[0] + shapes[1])
    if isinstance(a, ListValue) and isinstance(b, ListValue):
        return ListValue(_join_contents(interpreter, a.content, b.content))
    if isinstance(a, (tuple, ManyValue)) and isinstance(b, (tuple, ManyValue)):
        return _join_contents(interpreter, a, b)
    return None


def _as_shape(value: StaticValue) -> Shape | None:
    if isinstance(value, ShapeValue):
        return value.shape
    content = value.content if isinstance(value, ListValue) else value
    if not isinstance(content, tuple):
        return None
    dims = [as_dim(item) for item in content]
    known = [dim for dim in dims if dim is not None]
    return Shape(tuple(known)) if len(known) == len(dims) else None


def _join_contents(
    interpreter: Interpreter, a: tuple[StaticValue, ...] | ManyValue, b: tuple[StaticValue, ...] | ManyValue
) -> tuple[StaticValue, ...] | ManyValue:
    from shaped.static.join import join_many

    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    lengths = [content.length if isinstance(content, ManyValue) else Dim.of(len(content)) for content in (a, b)]
    return ManyValue(join_many(interpreter.context, a, b).element, lengths[0] + lengths[1])


def extended(
    interpreter: Interpreter, a: tuple[StaticValue, ...] | ManyValue, b: tuple[StaticValue, ...] | ManyValue
) -> tuple[StaticValue, ...] | ManyValue:
    """The content of a list followed by that of another."""
    return _join_contents(interpreter, a, b)


def _repeat(interpreter: Interpreter, a: StaticValue, b: StaticValue) -> StaticValue | None:
    if isinstance(b, (tuple, ListValue)):
        a, b = b, a
    content = a.content if isinstance(a, ListValue) else a
    if not isinstance(content, tuple) or not isinstance(a, (tuple, ListValue)):
        return None
    count = as_dim(b)
    if count is None:
        return UNKNOWN
    if count.constant is not None and len(content) * count.constant <= 1024:
        new: tuple[StaticValue, ...] | ManyValue = content * count.constant
    elif len(content) == 1:
        new = ManyValue(content[0], count)
    else:
        return UNKNOWN
    return ListValue(new) if isinstance(a, ListValue) else new


def _tensor(interpreter: Interpreter, name: str, tensor: TensorType, other: StaticValue) -> StaticValue:
    op = find_op(name)
    if op is None:
        interpreter.without_rule(name)
        return interpreter.context.unknown_tensor()
    if isinstance(other, Opaque) and not tensor.shape.axes:
        return interpreter.context.unknown_tensor()  # it may be a tensor as well as a number
    operand = lower(interpreter.context, other)
    result = op.apply(interpreter.context, (tensor, operand), {})
    if isinstance(other, Opaque) and isinstance(result, TensorType) and not result.dtype.is_all(FLOATS):
        # It may be a float as well as an int.
        return result.with_dtype(ANY_DTYPE)
    return interpreter.context.unknown_tensor() if result is UNKNOWN else lift(result)


def unary(interpreter: Interpreter, op: ast.unaryop, value: StaticValue) -> StaticValue:
    """`-a`, `+a`, `~a`."""
    value = present(value)
    if isinstance(value, TensorType):
        name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}.get(type(op), "")
        found = find_op(f"Tensor.__{name}__")
        return value if found is None else lift(found.apply(interpreter.context, (value,), {}))
    if isinstance(value, float):
        return -value if isinstance(op, ast.USub) else value
    if isinstance(value, Ratio):
        return Ratio(-value.numerator, value.denominator) if isinstance(op, ast.USub) else value
    dim = as_dim(value)
    if dim is None:
        return UNKNOWN
    match op:
        case ast.USub():
            return -dim
        case ast.Invert():
            return -dim - 1
    return dim


def compare(interpreter: Interpreter, op: ast.cmpop, a: StaticValue, b: StaticValue) -> StaticValue:
    """`a op b` of a comparison, as a value."""
    a, b = present(a), present(b)
    name = _COMPARISONS.get(type(op))
    if name is not None and isinstance(a, TensorType):
        return _tensor(interpreter, f"Tensor.__{name}__", a, b)
    if name is not None and isinstance(b, TensorType):
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(name, name)
        return _tensor(interpreter, f"Tensor.__{mirrored}__", b, a)
    return UNKNOWN


def augmented(interpreter: Interpreter, node: ast.AugAssign, a: StaticValue, b: StaticValue) -> StaticValue:
    """The value of a name after `a op= b`."""
    receiver = present(a)
    if isinstance(receiver, TensorType):
        found = find_op(f"Tensor.__i{_NAMES[type(node.op)]}__")
        if found is not None:
            result = found.apply(interpreter.context, (receiver, lower(interpreter.context, b)), {})
            return lift(result) if isinstance(result, TensorType) else interpreter.context.unknown_tensor()
    if isinstance(receiver, ListValue) and isinstance(node.op, ast.Add):
        from shaped.static.iteration import content

        added = content(interpreter, b)
        interpreter.journal.set(receiver.__dict__, "content", _join_contents(interpreter, receiver.content, added))
        return receiver
    return binary(interpreter, node.op, a, b)
