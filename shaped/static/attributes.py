"""`value.name`: read and set."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, Kind
from shaped.spec.dtype_demands import require_differentiable
from shaped.spec.dtypes import FLOAT32, INT64, DType
from shaped.spec.op import Module, find_op
from shaped.spec.shape import Shape
from shaped.spec.values import UNKNOWN, Ratio, TensorType
from shaped.static import annotate, arrays, functions, program
from shaped.static.dataclass_fields import is_field
from shaped.static.join import join
from shaped.static.lowering import lift
from shaped.static.values import (
    ArrayValue,
    BoundMethod,
    Choice,
    ClassValue,
    Container,
    DictValue,
    External,
    FunctionValue,
    Instance,
    ListValue,
    ManyValue,
    Maybe,
    Opaque,
    ShapeValue,
    SourceModule,
    StaticValue,
    Super,
    ValueMethod,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

_CONSTANTS: dict[str, StaticValue] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.inf": math.inf,
    "torch.pi": math.pi,
    "torch.inf": math.inf,
    "torch.float": FLOAT32,
    "torch.long": INT64,
    "numpy.pi": math.pi,
    "numpy.inf": math.inf,
    "numpy.newaxis": None,
    "typing.TYPE_CHECKING": True,
}
# Fields of the named tuples that operations give back.
_FIELDS = {"values": 0, "indices": 1, "eigenvalues": 0, "eigenvectors": 1, "U": 0, "S": 1, "Vh": 2, "Q": 0, "R": 1}


def get_attribute(interpreter: Interpreter, value: StaticValue, name: str, node: ast.expr) -> StaticValue:
    """The value of `value.name`."""
    match value:
        case TensorType():
            return tensor_attribute(interpreter, value, name)
        case ArrayValue():
            return arrays.attribute(interpreter, value, name)
        case Instance():
            return _instance_attribute(interpreter, value, name, node)
        case Opaque():
            return value.attribute(name)
        case Choice():
            found_values = [get_attribute(interpreter, option, name, node) for option in value.options]
            joined = found_values[0]
            for other in found_values[1:]:
                joined = join(interpreter.context, joined, other)
            return joined
        case External():
            full = f"{value.name}.{name}"
            return _CONSTANTS.get(full, External(full))
        case SourceModule():
            return functions.member(interpreter, value, name)
        case ClassValue():
            found = value.find(name)
            if isinstance(found, FunctionValue) and found.is_decorated("classmethod"):
                return BoundMethod(found, value)
            return UNKNOWN if found is None and name not in _names_of(value) else found
        case Super():
            return _super_attribute(interpreter, value, name)
        case Module():
            found = vars(value).get(name, UNKNOWN)
            return ValueMethod(value, name) if found is UNKNOWN else lift(found)
        case tuple():
            if name in _FIELDS and len(value) > _FIELDS[name]:
                return value[_FIELDS[name]]
            return ValueMethod(value, name)
        case ShapeValue() | ListValue() | DictValue() | ManyValue() | Container() | str():
            return ValueMethod(value, name)
        case Dim() | float() | bool() | Ratio():
            return ValueMethod(value, name)
    if value is UNKNOWN:
        if name == "shape":
            return ShapeValue(Shape.of(interpreter.context.fresh_pack()))
        return ValueMethod(value, name)
    return UNKNOWN


def _names_of(cls: ClassValue) -> set[str]:
    return {name for ancestor in cls.ancestors() for name in ancestor.names}


def tensor_attribute(interpreter: Interpreter, tensor: TensorType, name: str) -> StaticValue:
    """`x.shape`, `x.T`, or a method of a tensor."""
    shape = tensor.shape
    match name:
        case "shape":
            return shape.dims if shape.rank is not None else ShapeValue(shape)
        case "ndim":
            return Dim.of(shape.rank) if shape.rank is not None else interpreter.context.fresh(shape.least_rank)
        case "dtype":
            return tensor.dtype
        case "device" | "layout" | "requires_grad" | "is_cuda" | "names" | "grad_fn" | "is_leaf":
            return UNKNOWN
        case "data":
            return tensor
        case "grad":
            return Maybe(tensor)
    op = find_op(f"Tensor.{name}")
    if op is not None and name in PROPERTIES:
        return lift(op.apply(interpreter.context, (tensor,), {}))
    return ValueMethod(tensor, name)


PROPERTIES = frozenset(["T", "mT", "H", "mH", "real", "imag", "itemsize", "nbytes"])


def _instance_attribute(interpreter: Interpreter, instance: Instance, name: str, node: ast.expr) -> StaticValue:
    if name in instance.attributes:
        return instance.attributes[name]
    if name == "__dict__":
        # What is changed through it is not followed.
        for known in list(instance.attributes):
            interpreter.journal.set(instance.attributes, known, UNKNOWN)
        return UNKNOWN
    for cls in instance.cls.ancestors():
        if name in cls.names and not is_field(cls, name):
            return _bound(interpreter, cls.names[name], instance, node)
    if name == "__class__":
        return instance.cls
    declared = _declared(interpreter, instance.cls, name)
    return ValueMethod(instance, name) if declared is None else declared


def _bound(interpreter: Interpreter, found: StaticValue, instance: StaticValue, node: ast.expr) -> StaticValue:
    if not isinstance(found, FunctionValue):
        is_descriptor = isinstance(found, Instance) and found.cls.find("__get__") is not None
        return UNKNOWN if is_descriptor else found
    if found.is_decorated("property"):
        return program.call_function(interpreter, found, [instance], {}, node)
    if found.is_decorated("cached_property"):
        value = program.call_function(interpreter, found, [instance], {}, node)
        if isinstance(instance, Instance):
            interpreter.journal.set(instance.attributes, found.name.rpartition(".")[2], value)
        return value
    if found.is_decorated("staticmethod"):
        return found
    if found.is_decorated("classmethod"):
        return BoundMethod(found, instance.cls if isinstance(instance, Instance) else instance)
    return BoundMethod(found, instance)


def _declared(interpreter: Interpreter, cls: ClassValue, name: str) -> StaticValue | None:
    """An attribute that is only declared in a class body: `weight: Float[Tensor, "d"]`."""
    for ancestor in cls.ancestors():
        for statement in ancestor.node.body:
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and statement.target.id == name
            ):
                frame = interpreter.new_frame(ancestor.module, ancestor.module.environment, "")
                with interpreter.in_frame(frame):
                    form = annotate.form_of(interpreter, statement.annotation)
                    return annotate.promised(interpreter, form, name, unbound=Kind.UNKNOWN)
    return None


def _super_attribute(interpreter: Interpreter, value: Super, name: str) -> StaticValue:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, ClassValue):
        return UNKNOWN
    ancestors = list(cls.ancestors())
    after = ancestors[ancestors.index(value.cls) + 1 :] if value.cls in ancestors else []
    for ancestor in after:
        if name in ancestor.names:
            found = ancestor.names[name]
            return BoundMethod(found, receiver) if isinstance(found, FunctionValue) else found
    if name == "__init__" and after and isinstance(receiver, Instance) and after[0].is_dataclass:
        return Super(after[0], receiver)
    if name == "forward" and isinstance(receiver, Instance):
        for base in value.cls.bases:
            if isinstance(base, Module):
                return base
    return ValueMethod(receiver, name) if isinstance(receiver, Instance) else UNKNOWN


def set_attribute(interpreter: Interpreter, receiver: StaticValue, name: str, value: StaticValue) -> None:
    """`receiver.name = value`."""
    match receiver:
        case Instance():
            found = receiver.cls.find(name)
            if isinstance(found, FunctionValue) and found.is_decorated("property"):
                setter = receiver.cls.find(functions.setter_name(name))
                if isinstance(setter, FunctionValue):
                    program.call_function(interpreter, setter, [receiver, value], {}, setter.node)
                return
            if isinstance(found, Instance) or receiver.cls.find("__setattr__") is not None:
                value = UNKNOWN  # a descriptor may keep something else
            interpreter.journal.set(receiver.attributes, name, value)
        case Module():
            # A library module that is changed from outside is no longer what its constructor made.
            interpreter.journal.set(vars(receiver), name, _as_module_attribute(value))
        case TensorType() if name == "requires_grad" and value is True:
            require_differentiable(name, receiver)
        case ArrayValue():
            arrays.forget(interpreter, receiver)  # `array.shape = ...`
        case ClassValue():
            interpreter.journal.set(receiver.names, name, value)
        case SourceModule():
            interpreter.journal.set(receiver.environment.names, name, UNKNOWN)


def _as_module_attribute(value: StaticValue) -> StaticValue:
    return value if isinstance(value, (TensorType, Dim, DType)) else UNKNOWN
