"""NumPy's arrays: what makes them, and what is done with them.

An array is kept apart from tensors, since its methods mean something else: `repeat`, `max`, `transpose`, `size`. What
torch makes of one (`torch.from_numpy`, `torch.tensor`) is a tensor of its shape.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, product
from shaped.spec.dtypes import ANY, DType
from shaped.spec.op import Op, find_op
from shaped.spec.ops.indexing import Index, Slice, index
from shaped.spec.values import UNKNOWN, Many, TensorType, Value
from shaped.static import aliases
from shaped.static.arguments import Arguments, forget_arguments
from shaped.static.lowering import lift
from shaped.static.values import (
    ArrayValue,
    External,
    Instance,
    ListValue,
    ManyValue,
    Maybe,
    Opaque,
    ShapeValue,
    StaticValue,
    ValueMethod,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

# Functions that take any data, tensors too.
_OF_DATA = frozenset(["numpy.array", "numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray"])


def call(interpreter: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> StaticValue:
    """A call of a function of NumPy; UNKNOWN for those without a rule, and where another library answers."""
    from shaped.static import builtins

    op = find_op(name)
    has_arrays = any(isinstance(value, ArrayValue) for value in arguments.args)
    if name == "numpy.prod" and not has_arrays:
        return builtins.call(interpreter, "math.prod", arguments, node)
    if name in builtins.FUNCTIONS and not has_arrays:
        return builtins.call(interpreter, name, arguments, node)
    if op is None:
        forget_arguments(interpreter, arguments)
        return UNKNOWN
    return _apply(interpreter, op, name, arguments)


def call_method(interpreter: Interpreter, array: ArrayValue, name: str, arguments: Arguments) -> StaticValue:
    """The value of `array.name(arguments)`."""
    op = find_op(f"ndarray.{name}")
    if name == "resize":
        forget(interpreter, array)
    if op is None:
        forget_arguments(interpreter, arguments)
        return UNKNOWN
    bound = Arguments()
    bound.args, bound.kwargs, bound.complete = [array, *arguments.args], arguments.kwargs, arguments.complete
    return _apply(interpreter, op, f"ndarray.{name}", bound)


def _apply(interpreter: Interpreter, op: Op, name: str, arguments: Arguments) -> StaticValue:
    if not arguments.complete:
        return UNKNOWN
    takes_data = name in _OF_DATA
    args = [_lowered(interpreter, value, takes_data) for value in arguments.args]
    kwargs = {key: _lowered(interpreter, value, takes_data) for key, value in arguments.kwargs.items()}
    given = {**dict(zip(op.signature.parameters, args, strict=False)), **kwargs}
    if any(given.get(parameter) is UNKNOWN for parameter in _of_arrays(op)):
        return UNKNOWN  # of a tensor, or of what another library has, the result is no array
    result = op.apply(interpreter.context, args, kwargs)
    if isinstance(result, TensorType) and not any(map(_holds_arrays, given.values())):
        # Data that is made here stands for data of other sizes: no error where only some named sizes fit it.
        result = replace(result, joined=True)
    return as_arrays(lift(result)) if isinstance(result, (TensorType, tuple)) else UNKNOWN


def _holds_arrays(value: Value) -> bool:
    """Whether a value is an array, or a list of some."""
    if isinstance(value, Many):
        return _holds_arrays(value.element)
    return isinstance(value, TensorType) or (isinstance(value, tuple) and any(map(_holds_arrays, value)))


def _of_arrays(op: Op) -> list[str]:
    """The parameters that are arrays."""
    return [name for name, parameter in op.signature.parameters.items() if parameter.annotation == "TensorType"]


def as_tensors(arguments: Arguments) -> Arguments:
    """The arguments of a function of torch that makes a tensor of arrays, and of lists of them."""
    found = Arguments()
    found.args = [_as_tensor(value) for value in arguments.args]
    found.kwargs = {key: _as_tensor(value) for key, value in arguments.kwargs.items()}
    found.axes, found.complete = arguments.axes, arguments.complete
    return found


def has_arrays(arguments: Arguments) -> bool:
    """Whether an argument is an array, or a list of some."""
    return any(_as_tensor(value) is not value for value in arguments.args)


def as_arrays(value: StaticValue) -> StaticValue:
    """What a rule gives for arrays, with arrays for its tensors."""
    if isinstance(value, tuple):
        return tuple(as_arrays(item) for item in value)
    return lifted(value) if isinstance(value, TensorType) else value


def _as_tensor(value: StaticValue) -> StaticValue:
    match value:
        case ArrayValue():
            return value.tensor
        case tuple() if any(_as_tensor(item) is not item for item in value):
            return tuple(_as_tensor(item) for item in value)
        case ListValue() if isinstance(value.content, tuple):
            content = _as_tensor(value.content)
            return value if content is value.content else content
    return value


def forget(interpreter: Interpreter, array: ArrayValue) -> None:
    """An array that was given another shape in place is not known any more, under any of its names."""
    aliases.replace_everywhere(interpreter, array, UNKNOWN)
    receiver = interpreter.here.receiver
    if isinstance(receiver, Instance):
        for name in [name for name, value in receiver.attributes.items() if value is array]:
            interpreter.journal.set(receiver.attributes, name, UNKNOWN)


def _lowered(interpreter: Interpreter, value: StaticValue, takes_data: bool, depth: int = 0) -> Value:
    """An argument as rules take it: arrays as tensors; what is no array, and need not be a number, is not known."""
    match value:
        case ArrayValue():
            return value.tensor
        case TensorType():
            return value if takes_data else UNKNOWN
        case Maybe():
            return UNKNOWN
        case Opaque():
            return value.dim if depth and not takes_data else UNKNOWN
        case float() if takes_data and value != value:
            return UNKNOWN  # a float that was not followed may be an array that a caller gave
        case External():
            return _dtype(value) or UNKNOWN
        case str():
            return DType.named(value) if value in ANY else value
        case tuple():
            return tuple(_lowered(interpreter, item, takes_data, depth + 1) for item in value)
        case ListValue() if isinstance(value.content, tuple):
            return _lowered(interpreter, value.content, takes_data, depth)
        case ListValue() | ManyValue():
            many = value.content if isinstance(value, ListValue) else value
            if isinstance(many, ManyValue) and isinstance(many.element, ArrayValue):
                return Many(many.element.tensor, many.length)
            lowered = interpreter.lower(many)
            return lowered if not takes_data or _is_counted(many) else UNKNOWN
    return interpreter.lower(value)


def _is_counted(value: StaticValue) -> bool:
    """Whether the items of a list that was not counted are numbers for certain."""
    return isinstance(value, ManyValue) and isinstance(value.element, (Dim, float, bool))


def _dtype(value: External) -> DType | None:
    """`np.float32`, or Python's `float` as NumPy reads it."""
    prefix, _, name = value.name.rpartition(".")
    if prefix == "numpy":
        name = name.rstrip("_")
        return DType.named(name) if name in ANY else None
    known = {"float": ["float64"], "int": ["int32", "int64"], "bool": ["bool"]}
    return DType(frozenset(known[name])) if prefix == "builtins" and name in known else None


def lifted(value: Value) -> StaticValue:
    """The result of a rule as a value of the program."""
    return ArrayValue(replace(value, device=None, merged=())) if isinstance(value, TensorType) else UNKNOWN


def attribute(interpreter: Interpreter, array: ArrayValue, name: str) -> StaticValue:
    """`array.shape`, `array.T`, or a method."""
    shape = array.tensor.shape
    match name:
        case "shape":
            return shape.dims if shape.rank is not None else ShapeValue(shape)
        case "ndim":
            return Dim.of(shape.rank) if shape.rank is not None else interpreter.context.fresh(shape.least_rank)
        case "size":
            return product(shape.dims) if shape.rank is not None else interpreter.context.fresh()
        case "T":
            op = find_op("ndarray.T")
            return UNKNOWN if op is None else lifted(op.apply(interpreter.context, (array.tensor,), {}))
        case "dtype" | "flat" | "base" | "strides" | "nbytes" | "itemsize" | "flags" | "data" | "real" | "imag":
            return UNKNOWN
    return ValueMethod(array, name)


_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "mod",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.BitAnd: "logical_and",
    ast.BitOr: "logical_or",
    ast.BitXor: "logical_xor",
}


def binary(interpreter: Interpreter, op: ast.operator, a: StaticValue, b: StaticValue) -> StaticValue:
    """`a op b`, one of them an array; UNKNOWN unless the other is one too, or a number."""
    found = find_op(f"numpy.{_OPERATORS.get(type(op), '')}")
    if found is None:
        return UNKNOWN
    operands = [_lowered(interpreter, value, takes_data=False) for value in (a, b)]
    if any(operand is UNKNOWN or isinstance(operand, tuple) for operand in operands):
        return UNKNOWN
    return lifted(found.apply(interpreter.context, operands, {}))


def subscript(interpreter: Interpreter, array: ArrayValue, items: tuple[Index, ...]) -> StaticValue:
    """`array[items]`. Steps may be negative; what arrays and lists pick is not followed."""
    plain: list[Index] = []
    for item in items:
        match item:
            case Slice(start=None, stop=None, step=Dim(constant=-1)):
                plain.append(Slice())
            case Slice(step=Dim(constant=step)) if step is not None and step > 0:
                plain.append(item)
            case Slice(step=None):
                plain.append(item)
            case Dim():
                plain.append(item)
            case None:
                plain.append(item)
            case _ if item is ...:
                plain.append(item)
            case _:
                return UNKNOWN
    return lifted(index(interpreter.context, array.tensor, tuple(plain)))
