"""Values of a program as the arguments that operations take, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaped.spec.dims import Dim
from shaped.spec.dtypes import ALIASES, ANY, DType
from shaped.spec.op import Module
from shaped.spec.values import UNKNOWN, Device, Many, Ratio, TensorType, Value
from shaped.static.values import (
    External,
    ListValue,
    ManyValue,
    Maybe,
    Opaque,
    RangeValue,
    ShapeValue,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.spec.context import Context

_DTYPES = ANY | ALIASES.keys()


def lower(context: Context, value: StaticValue) -> Value:
    """A value as an operation takes it; UNKNOWN for what operations know nothing of."""
    match value:
        case Maybe():
            return lower(context, value.value)
        case TensorType() | Dim() | bool() | float() | str() | None | DType() | Device() | Ratio() | Module():
            return value
        case Opaque():
            return value.dim
        case tuple():
            return tuple(lower(context, item) for item in value)
        case ManyValue():
            return Many(lower(context, value.element), value.length)
        case ListValue():
            return lower(context, value.content)
        case ShapeValue():
            return UNKNOWN
        case RangeValue():
            return Many(context.fresh(low=None), context.fresh())
        case External():
            return dtype_of(value) or UNKNOWN
    return UNKNOWN


def lift(value: Value) -> StaticValue:
    """The result of an operation as a value of the program."""
    match value:
        case tuple():
            return tuple(lift(item) for item in value)
        case Many():
            return ManyValue(lift(value.element), value.length)
    return value


def dtype_of(value: External) -> DType | None:
    """`torch.float32` or Python's `float` as a dtype."""
    prefix, _, name = value.name.rpartition(".")
    if prefix == "builtins":
        return {"float": DType.named("float32"), "int": DType.named("int64"), "bool": DType.named("bool")}.get(name)
    return dtype_of_torch(value)


def dtype_of_torch(value: External) -> DType | None:
    """`torch.float32` as a dtype."""
    prefix, _, name = value.name.rpartition(".")
    return DType.named(name) if prefix == "torch" and name in _DTYPES else None
