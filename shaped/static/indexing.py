"""`x[...]` on every kind of value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shaped.errors import ShapeError
from shaped.spec.dims import Dim
from shaped.spec.ops.indexing import Index, Slice, index
from shaped.spec.shape import Pack, Shape
from shaped.spec.values import UNKNOWN, Many, TensorType
from shaped.static import arrays
from shaped.static.annotate import form_of
from shaped.static.annotations import TLISTS
from shaped.static.iteration import items, renewed
from shaped.static.values import (
    ArrayValue,
    ClassValue,
    Container,
    DictValue,
    EllipsisValue,
    External,
    Instance,
    ListValue,
    ManyValue,
    Opaque,
    RangeValue,
    ShapeValue,
    SliceValue,
    StaticValue,
    TypeValue,
    as_dim,
    present,
)

if TYPE_CHECKING:
    from shaped.static.interpreter import Interpreter


def items_of(interpreter: Interpreter, node: ast.expr) -> tuple[Index, ...]:
    """The items of an index as operations take them."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(item, ast.Starred) for item in nodes):
        return (UNKNOWN,)
    items: list[Index] = []
    for item in nodes:
        value = interpreter.evaluate(item)
        if not isinstance(node, ast.Tuple) and isinstance(value, tuple):
            return tuple(_item(interpreter, part) for part in value)
        items.append(_item(interpreter, value))
    return tuple(items)


def _item(interpreter: Interpreter, value: StaticValue) -> Index:
    value = present(value)
    match value:
        case SliceValue():
            return Slice(*(interpreter.lower(part) for part in (value.start, value.stop, value.step)))
        case EllipsisValue():
            return ...
        case None | bool() | TensorType() | Dim():
            return value
        case Opaque():
            return UNKNOWN
        case ListValue():
            lowered = interpreter.lower(value)
            return lowered if isinstance(lowered, (tuple, Many)) else UNKNOWN
    return UNKNOWN


def subscript(interpreter: Interpreter, node: ast.Subscript) -> StaticValue:
    """The value of `x[...]`."""
    receiver = interpreter.evaluate_present(node.value)
    if isinstance(receiver, TensorType):
        return index(interpreter.context, receiver, items_of(interpreter, node.slice))
    if isinstance(receiver, ArrayValue):
        return arrays.subscript(interpreter, receiver, items_of(interpreter, node.slice))
    if isinstance(receiver, External) and receiver.name in TLISTS:
        return TypeValue(form_of(interpreter, node))
    if isinstance(receiver, (External, ClassValue)):
        return receiver  # a generic class with its parameters
    key = interpreter.evaluate_present(node.slice)
    match receiver:
        case tuple():
            if isinstance(key, Dim) and key.constant is not None and all(isinstance(one, Dim) for one in receiver):
                _require_axis(interpreter, node, len(receiver), key.constant)
            if isinstance(key, Dim) and receiver and all(isinstance(one, TensorType) for one in receiver):
                _require_piece(interpreter, node, len(receiver), key)
            return _sequence(interpreter, receiver, key)
        case ManyValue():
            return _many(interpreter, receiver, key)
        case ListValue():
            if isinstance(receiver.content, tuple):
                picked = _sequence(interpreter, receiver.content, key)
            else:
                picked = _many(interpreter, receiver.content, key)
            is_slice = isinstance(key, SliceValue)
            return ListValue(picked) if is_slice and isinstance(picked, (tuple, ManyValue)) else picked
        case Container():
            return _container(interpreter, receiver, key)
        case ShapeValue():
            return _shape(interpreter, receiver.shape, key)
        case DictValue():
            name = key.constant if isinstance(key, Dim) else key
            try:
                return receiver.items.get(name, UNKNOWN)
            except TypeError:
                return UNKNOWN
        case Opaque() if isinstance(key, (Dim, str)):
            return Opaque(f"{receiver.path}[{key}]", receiver.scope)
        case str():
            return UNKNOWN
        case RangeValue():
            return _range(interpreter, receiver, key)
        case Instance():
            return interpreter.call_method(receiver, "__getitem__", [key], node)
    if receiver is UNKNOWN and isinstance(key, (TensorType, EllipsisValue)):
        return interpreter.context.unknown_tensor()
    return UNKNOWN


def _require_axis(interpreter: Interpreter, node: ast.Subscript, rank: int, axis: int) -> None:
    """Hold that `x.shape[axis]` names an axis of a tensor. Of other tuples nothing is said."""
    if -rank <= axis < rank or not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
        return
    tensor = interpreter.evaluate_present(node.value.value)
    if isinstance(tensor, TensorType):
        interpreter.context.axis("shape", tensor, Dim.of(axis))


def _require_piece(interpreter: Interpreter, node: ast.Subscript, count: int, place: Dim) -> None:
    """Hold that an index into a tuple of tensors, as `x.chunk(3)` gives one, is below their number."""
    if interpreter.guarded or place.constant is None:
        return  # a condition that was not understood may ask whether there are so many
    if not -count <= place.constant < count:
        there = "1 tensor" if count == 1 else f"{count} tensors"
        interpreter.fault(node, ShapeError("index", f"index {place} is out of range for {there}", dims=(place,)))


def _bounds(value: SliceValue) -> tuple[int | None, int | None, int | None] | None:
    bounds: list[int | None] = []
    for part in (value.start, value.stop, value.step):
        dim = as_dim(part)
        if part is not None and (dim is None or dim.constant is None):
            return None
        bounds.append(None if dim is None else dim.constant)
    return None if bounds[2] == 0 else (bounds[0], bounds[1], bounds[2])


def _sequence(interpreter: Interpreter, items: tuple[StaticValue, ...], key: StaticValue) -> StaticValue:
    if isinstance(key, SliceValue):
        bounds = _bounds(key)
        if bounds is None:
            return _any(interpreter, items, interpreter.context.fresh())
        return items[slice(*bounds)]
    position = as_dim(key)
    if position is None or position.constant is None:
        many = _any(interpreter, items, Dim.of(len(items)))
        return many.element if isinstance(many, ManyValue) else UNKNOWN
    return items[position.constant] if -len(items) <= position.constant < len(items) else UNKNOWN


def _range(interpreter: Interpreter, numbers: RangeValue, key: StaticValue) -> StaticValue:
    """An item of a range, or a range that begins or ends elsewhere."""
    place = as_dim(key)
    counted = items(interpreter, numbers)
    if counted is not None and (place is not None or isinstance(key, SliceValue)):
        return _sequence(interpreter, counted, key)
    return interpreter.context.fresh(low=None) if place is not None else UNKNOWN


def _any(interpreter: Interpreter, items: tuple[StaticValue, ...], length: Dim) -> StaticValue:
    from shaped.static.join import join_many

    return ManyValue(join_many(interpreter.context, items, ()).element, length) if items else UNKNOWN


def _many(interpreter: Interpreter, many: ManyValue, key: StaticValue) -> StaticValue:
    if not isinstance(key, SliceValue):
        return renewed(interpreter, many.element)
    step = as_dim(key.step)
    if key.step is not None and (step is None or step.constant is None or step.constant < 0):
        whole = key.start is None and key.stop is None and step == -1
        return ManyValue(many.element, many.length if whole else interpreter.context.fresh())
    picked = index(
        interpreter.context,
        TensorType(Shape.of(many.length)),
        (Slice(*(interpreter.lower(part) for part in (key.start, key.stop, key.step))),),
    )
    length = picked.shape.at(0)
    return ManyValue(many.element, length if length is not None else interpreter.context.fresh())


def _container(interpreter: Interpreter, container: Container, key: StaticValue) -> StaticValue:
    if container.kind == "ModuleDict":
        if isinstance(container.content, tuple) and container.keys is not None and isinstance(key, str):
            return dict(zip(container.keys, container.content)).get(key, UNKNOWN)
        if isinstance(container.content, tuple) and container.content:
            many = _any(interpreter, container.content, interpreter.context.fresh())
            return many.element if isinstance(many, ManyValue) else UNKNOWN
        return UNKNOWN
    if not container.counted:
        return UNKNOWN
    if isinstance(container.content, tuple):
        picked = _sequence(interpreter, container.content, key)
    else:
        picked = _many(interpreter, container.content, key)
    if isinstance(key, SliceValue):
        return Container(container.kind, picked) if isinstance(picked, (tuple, ManyValue)) else UNKNOWN
    return picked


def _shape(interpreter: Interpreter, shape: Shape, key: StaticValue) -> StaticValue:
    if isinstance(key, SliceValue):
        bounds = _bounds(key)
        return _shape_slice(shape, bounds) if bounds is not None else UNKNOWN
    position = as_dim(key)
    if position is None or position.constant is None:
        return interpreter.context.fresh()
    dim = shape.at(position.constant)
    return dim if dim is not None else interpreter.context.fresh()


def _shape_slice(shape: Shape, bounds: tuple[int | None, int | None, int | None]) -> StaticValue:
    """`shape[:-2]`, `shape[2:]`, `shape[-2:]` where the pack stays whole or is left out."""
    start, stop, step = bounds
    place = next((i for i, axis in enumerate(shape.axes) if isinstance(axis, Pack)), None)
    if step not in (None, 1) or place is None:
        return UNKNOWN
    after = len(shape.axes) - place - 1
    first = 0 if start is None else start if 0 <= start <= place else None
    if start is not None and start < 0 and -start <= after:
        first = len(shape.axes) + start
    last = len(shape.axes) if stop is None else None
    if stop is not None and stop < 0 and -stop <= after:
        last = len(shape.axes) + stop
    if stop is not None and 0 <= stop <= place:
        last = stop
    if first is None or last is None:
        return UNKNOWN
    picked = Shape(shape.axes[first : max(first, last)])
    return picked.dims if picked.pack is None else ShapeValue(picked)
