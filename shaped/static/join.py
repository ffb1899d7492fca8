"""The value of a name where paths meet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from shaped.spec.context import Context
from shaped.spec.dims import Dim, Kind, Symbol
from shaped.spec.dtypes import DType
from shaped.spec.op import Module
from shaped.spec.provenance import either, is_left_over
from shaped.spec.shape import Axis, Pack, Shape
from shaped.spec.values import UNKNOWN, Device, TensorType
from shaped.static.journal import Missing
from shaped.static.values import (
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
    Partial,
    StaticValue,
)


def join_slots(context: Context, a: StaticValue | Missing, b: StaticValue | Missing) -> StaticValue | Missing:
    """`join` for names that one of the paths may not set: such a name is not known."""
    if isinstance(a, Missing) or isinstance(b, Missing):
        return a if a is b else UNKNOWN
    return join(context, a, b)


def forgotten(context: Context, key: object) -> StaticValue:
    """What a slot holds when nothing is known of it any more: a list's content is then any items."""
    if key == "content":
        return ManyValue(UNKNOWN, context.fresh())
    return False if key == "complete" else UNKNOWN


def join(context: Context, a: StaticValue, b: StaticValue) -> StaticValue:
    """What holds for `a` and for `b`: the same value stays, sizes that differ become one unknown size."""
    if a is b or _same(a, b):
        if isinstance(a, TensorType) and isinstance(b, TensorType):
            shape = either(a.shape, b.shape)
            return a if shape is a.shape else replace(a, shape=shape)
        return a
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if a is None or b is None or isinstance(a, Maybe) or isinstance(b, Maybe):
        return _join_optional(context, a, b)
    match a, b:
        case TensorType(), TensorType():
            return join_tensors(context, a, b)
        case bool(), _:
            return UNKNOWN
        case ((Dim() | Opaque()), (Dim() | Opaque())):
            return context.fresh(low=_least(a, b))
        case DType(), DType():
            return DType(a.names | b.names)
        case Device(), Device():
            return Device(None)
        case tuple(), tuple() if len(a) == len(b):
            return tuple(join(context, x, y) for x, y in zip(a, b))
        case ((tuple() | ManyValue()), (tuple() | ManyValue())):
            return join_many(context, a, b)
        case ListValue(), ListValue():
            if a.content == b.content == ():  # either may be filled under another name
                return ListValue(ManyValue(UNKNOWN, context.fresh()))
            return ListValue(join_content(context, a.content, b.content))
        case Container(), Container() if a.kind == b.kind and a.counted and b.counted:
            return Container(a.kind, join_content(context, a.content, b.content), a.keys if a.keys == b.keys else None)
        case DictValue(), DictValue():
            shared = {key: join(context, a.items[key], b.items[key]) for key in a.items if key in b.items}
            return DictValue(shared, complete=a.complete and b.complete and a.items.keys() == b.items.keys())
        case Instance(), Instance() if a.cls is b.cls:
            shared_names = {
                name: join(context, a.attributes[name], b.attributes[name])
                for name in a.attributes
                if name in b.attributes
            }
            return Instance(a.cls, shared_names)
    return _choice(a, b)


_CALLABLE = (Module, Instance, Container, FunctionValue, BoundMethod, Partial, Choice, External, ClassValue)
_MOST_CHOICES = 4


def _choice(a: StaticValue, b: StaticValue) -> StaticValue:
    """Either of two things that can be called."""
    if not isinstance(a, _CALLABLE) or not isinstance(b, _CALLABLE):
        return UNKNOWN
    options: list[StaticValue] = []
    for value in (a, b):
        for option in value.options if isinstance(value, Choice) else (value,):
            if not any(option is known for known in options):
                options.append(option)
    return Choice(tuple(options)) if len(options) <= _MOST_CHOICES else UNKNOWN


def _same(a: StaticValue, b: StaticValue) -> bool:
    if isinstance(a, Module):
        return _is_same_part(a, b)
    if isinstance(a, float):
        return _is_same_part(a, b)  # numbers that were not followed, too
    return type(a) is type(b) and not isinstance(a, (ListValue, DictValue, Instance, Container)) and a == b


def _is_same_part(a: object, b: object) -> bool:
    """Whether two parts of library modules are the same; so are modules that are made alike, round by round."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Module) and isinstance(b, Module):
        one, other = vars(a), vars(b)
        return one.keys() == other.keys() and all(_is_same_part(part, other[name]) for name, part in one.items())
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_is_same_part, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def _least(a: Dim | Opaque, b: Dim | Opaque) -> int | None:
    lows = [dim.constant for dim in (a, b) if isinstance(dim, Dim)]
    return 0 if len(lows) == 2 and all(low is not None and low >= 0 for low in lows) else None


def _join_optional(context: Context, a: StaticValue, b: StaticValue) -> StaticValue:
    values = [value.value if isinstance(value, Maybe) else value for value in (a, b) if value is not None]
    joined = values[0]
    for value in values[1:]:
        joined = join(context, joined, value)
    return joined if joined is UNKNOWN else Maybe(joined)


def join_content(
    context: Context, a: tuple[StaticValue, ...] | ManyValue, b: tuple[StaticValue, ...] | ManyValue
) -> tuple[StaticValue, ...] | ManyValue:
    """`join` of the contents of two lists."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(join(context, x, y) for x, y in zip(a, b))
    return join_many(context, a, b)


def join_many(
    context: Context, a: tuple[StaticValue, ...] | ManyValue, b: tuple[StaticValue, ...] | ManyValue
) -> ManyValue:
    """Values that were not counted, with what holds for all of them."""
    values = [*_elements(a), *_elements(b)]
    element = values[0] if values else UNKNOWN
    for value in values[1:]:
        element = join(context, element, value)
    lengths = [content.length if isinstance(content, ManyValue) else Dim.of(len(content)) for content in (a, b)]
    return ManyValue(element, lengths[0] if lengths[0] == lengths[1] else context.fresh())


def _elements(content: tuple[StaticValue, ...] | ManyValue) -> tuple[StaticValue, ...]:
    return (content.element,) if isinstance(content, ManyValue) else content


def join_tensors(context: Context, a: TensorType, b: TensorType) -> TensorType:
    """A tensor that is `a` or `b`: axes that differ are unknown, and it is marked as joined."""
    dtype = DType(a.dtype.names | b.dtype.names)
    device = a.device if a.device == b.device else None
    one, other = context.facts.seen(a.shape), context.facts.seen(b.shape)
    if one == other:
        return TensorType(either(one, other), dtype, device, a.joined or b.joined)
    return replace(TensorType(_join_shapes(context, one, other), dtype, device), joined=True)


def _join_shapes(context: Context, a: Shape, b: Shape) -> Shape:
    if len(a.axes) == len(b.axes):
        axes = [_join_axes(context, x, y) for x, y in zip(a.axes, b.axes)]
        if sum(isinstance(axis, Pack) for axis in axes) <= 1:
            return Shape.of(*axes)
    # Of two ranks only what stands at the end of both is kept: trailing axes are what the next layer asks for.
    tails = [shape.tail if shape.pack is not None else shape.dims for shape in (a, b)]
    tail: list[Axis] = []
    for x, y in zip(reversed(tails[0]), reversed(tails[1])):
        tail.insert(0, _join_axes(context, x, y))
    return Shape.of(context.fresh_pack(), *tail)


def _join_axes(context: Context, a: Axis, b: Axis) -> Axis:
    if isinstance(a, Dim) and isinstance(b, Dim):
        return context.fresh() if a != b else b if is_left_over(a) else a
    return a if a == b else context.fresh_pack()


def covers(old: StaticValue, new: StaticValue, is_wide: Callable[[Symbol], bool]) -> bool:
    """Whether `old` already stands for `new`: equal but for sizes that are `is_wide`, any size."""
    if old is UNKNOWN or old is new or _same(old, new):
        return True
    if isinstance(old, Maybe):
        return new is None or covers(old.value, new.value if isinstance(new, Maybe) else new, is_wide)
    match old, new:
        case Dim(), (Dim() | Opaque()):
            return old.symbol is not None and is_wide(old.symbol)
        case TensorType(), TensorType():
            return (
                new.dtype.names <= old.dtype.names
                and old.device in (None, new.device)
                and old.merged in ((), new.merged)
                and old.extent in (None, new.extent)
                and _covers_shape(old.shape, new.shape, is_wide)
            )
        case tuple(), tuple():
            return len(old) == len(new) and all(covers(x, y, is_wide) for x, y in zip(old, new))
        case ManyValue(), (tuple() | ManyValue()):
            return _covers_length(old.length, is_wide) and all(covers(old.element, x, is_wide) for x in _elements(new))
        case ListValue(), ListValue():
            return covers(old.content, new.content, is_wide)
        case Container(), Container():
            return old.kind == new.kind and old.keys == new.keys and covers(old.content, new.content, is_wide)
        case Instance(), Instance():
            return (
                old.cls is new.cls
                and old.attributes.keys() <= new.attributes.keys()
                and all(covers(value, new.attributes[name], is_wide) for name, value in old.attributes.items())
            )
        case DictValue(), DictValue():
            return old.items.keys() == new.items.keys() and all(
                covers(old.items[key], new.items[key], is_wide) for key in old.items
            )
    return False


def _covers_length(length: Dim, is_wide: Callable[[Symbol], bool]) -> bool:
    return length.symbol is not None and is_wide(length.symbol)


def _covers_shape(old: Shape, new: Shape, is_wide: Callable[[Symbol], bool]) -> bool:
    if old == new:
        return True
    if old.pack is not None and old.pack.kind is Kind.UNKNOWN:
        head, tail = old.head, old.tail
        if len(new.head) < len(head) or len(new.tail if new.pack else new.dims) < len(tail):
            return False
        ends = new.tail if new.pack is not None else new.dims
        pairs = [*zip(head, new.head), *zip(reversed(tail), reversed(ends))]
        return all(x == y or covers(x, y, is_wide) for x, y in pairs)
    return len(old.axes) == len(new.axes) and all(
        x == y or (isinstance(x, Dim) and isinstance(y, Dim) and covers(x, y, is_wide))
        for x, y in zip(old.axes, new.axes)
    )
