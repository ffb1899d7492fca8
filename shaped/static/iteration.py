"""Going through a value: its items where they are counted, else one item that stands for all."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from shaped.spec.dims import Dim, Kind, Symbol, ceildiv
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, TensorType
from shaped.static.values import (
    ArrayValue,
    ClassValue,
    Container,
    DictValue,
    Instance,
    ListValue,
    ManyValue,
    Opaque,
    RangeValue,
    ShapeValue,
    StaticValue,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter

MOST_ITEMS = 64


def items(interpreter: Interpreter, value: StaticValue) -> tuple[StaticValue, ...] | None:
    """The items of a value, None if they are not counted or more than `MOST_ITEMS`."""
    value = present(value)
    match value:
        case tuple():
            return value
        case ListValue():
            return value.content if isinstance(value.content, tuple) else None
        case Container(counted=False):
            return None
        case Container(kind="ModuleDict"):
            return value.keys
        case Container():
            return value.content if isinstance(value.content, tuple) else None
        case Instance() if value.cls.inherits("typing.NamedTuple"):
            return tuple(value.attributes.get(name, UNKNOWN) for name in field_names(value.cls))
        case DictValue():
            return tuple(key if isinstance(key, str) else UNKNOWN for key in value.items) if value.complete else None
        case str():
            return tuple(value) if len(value) <= MOST_ITEMS else None
        case RangeValue():
            start, stop, step = value.start.constant, value.stop.constant, value.step.constant
            if start is None or stop is None or not step or len(range(start, stop, step)) > MOST_ITEMS:
                return None
            return tuple(Dim.of(i) for i in range(start, stop, step))
        case TensorType():
            length = value.shape.at(0) if value.shape.rank else None
            if length is not None and length.constant is not None and length.constant <= MOST_ITEMS:
                return (value.with_shape(Shape.of(*value.shape.axes[1:])),) * length.constant
    return None


def field_names(cls: ClassValue) -> list[str]:
    """The fields of a dataclass or named tuple, in order."""
    from shaped.static.dataclass_fields import fields

    return [field.target.id for field in fields(cls) if isinstance(field.target, ast.Name)]


def length(interpreter: Interpreter, value: StaticValue) -> Dim | None:
    """The number of items, None if it is not known to have one."""
    value = present(value)
    match value:
        case tuple() | str():
            return Dim.of(len(value))
        case ArrayValue():
            return value.tensor.shape.at(0) if value.tensor.shape.rank else None
        case ManyValue():
            return value.length
        case Container(counted=False):
            return None
        case ListValue(content) | Container(content=content):
            return content.length if isinstance(content, ManyValue) else Dim.of(len(content))
        case DictValue():
            return Dim.of(len(value.items)) if value.complete else None
        case RangeValue():
            count = ceildiv(value.stop - value.start, value.step) if value.step.constant else None
            if count is None or count.constant is not None:
                return None if count is None else Dim.of(max(count.constant or 0, 0))
            return count if interpreter.context.is_at_least(count, 0) else None
        case TensorType():
            return value.shape.at(0)
        case Opaque():
            return Dim.atom(Symbol(f"len({value.path})", Kind.UNKNOWN, value.scope, 0))
    return None


def element(interpreter: Interpreter, value: StaticValue) -> tuple[Callable[[], StaticValue], Dim | None]:
    """What makes one item that stands for all, and how many there are (None if not known)."""
    value = present(value)
    count = length(interpreter, value)

    def make() -> StaticValue:
        return _any_item(interpreter, value)

    return make, count


def content(interpreter: Interpreter, value: StaticValue) -> tuple[StaticValue, ...] | ManyValue:
    """The items of a value, or one that stands for all."""
    counted = items(interpreter, value)
    if counted is not None:
        return counted
    make, count = element(interpreter, value)
    return ManyValue(make(), interpreter.context.fresh() if count is None else count)


def _any_item(interpreter: Interpreter, value: StaticValue) -> StaticValue:
    from shaped.static.join import join

    context = interpreter.context
    match value:
        case RangeValue():
            index = context.fresh(
                low=0 if context.is_at_least(value.start, 0) and context.is_at_least(value.step, 1) else None
            )
            if value.step == 1:
                context.facts = context.facts.with_at_least(index, value.start).with_at_least(value.stop - 1, index)
            return index
        case TensorType():
            if value.shape.at(0) is not None:
                return value.with_shape(value.shape.replace(0))
            return context.unknown_tensor(value.dtype)
        case ManyValue():
            return renewed(interpreter, value.element)
        case ListValue(content) | Container(content=content):
            if isinstance(content, ManyValue):
                return renewed(interpreter, content.element)
            value = content
    if isinstance(value, tuple) and value:
        joined = value[0]
        for item in value[1:]:
            joined = join(context, joined, item)
        return joined
    return UNKNOWN


def renewed(interpreter: Interpreter, value: StaticValue) -> StaticValue:
    """One of many values: what was not followed of it need not be as it is in another one."""
    context = interpreter.context
    match value:
        case TensorType() if not value.shape.is_known:
            axes = [
                context.fresh_pack()
                if isinstance(axis, Pack) and axis.kind is Kind.UNKNOWN
                else axis.substitute({symbol: context.fresh() for symbol in axis.symbols() if symbol.is_fresh})
                if isinstance(axis, Dim)
                else axis
                for axis in value.shape.axes
            ]
            return value.with_shape(Shape(tuple(axes)))
        case ArrayValue():
            tensor = renewed(interpreter, value.tensor)
            return ArrayValue(tensor) if isinstance(tensor, TensorType) else UNKNOWN
        case tuple():
            return tuple(renewed(interpreter, item) for item in value)
        case Dim() if value.symbol is not None and value.symbol.is_fresh:
            return context.fresh(low=value.symbol.low)
    return value


def unpack(
    interpreter: Interpreter, node: ast.AST, targets: list[ast.expr], value: StaticValue
) -> tuple[StaticValue, ...]:
    """One value for each target of an unpacking."""
    counted = items(interpreter, value)
    starred = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    if counted is not None:
        if starred is not None and len(counted) >= len(targets) - 1:
            after = len(targets) - starred - 1
            middle = ListValue(counted[starred : len(counted) - after])
            return (*counted[:starred], middle, *counted[len(counted) - after :])
        if starred is None and len(counted) == len(targets):
            return counted
        return (UNKNOWN,) * len(targets)
    value = present(value)
    if isinstance(value, ShapeValue):
        return _unpack_shape(interpreter, value.shape, targets, starred)
    if isinstance(value, Opaque):
        return tuple(Opaque(f"{value.path}[{i}]", value.scope) for i in range(len(targets)))
    make, _ = element(interpreter, value)
    return tuple(
        ListValue(ManyValue(make(), interpreter.context.fresh())) if i == starred else make()
        for i in range(len(targets))
    )


def _unpack_shape(
    interpreter: Interpreter, shape: Shape, targets: list[ast.expr], starred: int | None
) -> tuple[StaticValue, ...]:
    if starred is None:
        return tuple(interpreter.context.fresh() for _ in targets)
    after = len(targets) - starred - 1
    if len(shape.head) < starred or len(shape.tail) < after:
        return tuple(UNKNOWN if i == starred else interpreter.context.fresh() for i in range(len(targets)))
    middle = Shape(shape.axes[starred : len(shape.axes) - after])
    return (*shape.head[:starred], ShapeValue(middle), *shape.tail[len(shape.tail) - after :])
