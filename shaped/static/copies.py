"""Copies of objects that a program can change: what is made again in the same way is equal, but not the same."""

from __future__ import annotations

import ast
import copy

from shaped.spec.context import Context
from shaped.spec.op import Module
from shaped.spec.values import UNKNOWN
from shaped.static.node_cache import kept_on_node
from shaped.static.values import Container, DictValue, Instance, ListValue, ManyValue, Maybe, StaticValue
from shaped.static.walk import walk


def copied(value: StaticValue, other: StaticValue = None) -> StaticValue:
    """A value equal to `value` that shares no object with it, save those that `other` shares with it too."""
    shared = objects_in(value).keys() & objects_in(other).keys()
    kept = {identity: found for identity, found in objects_in(value).items() if identity in shared}
    return _copy(value, kept)


def shallow(value: StaticValue) -> StaticValue:
    """`copy.copy(value)`: a new object that holds the same things."""
    match value:
        case Instance():
            return Instance(value.cls, dict(value.attributes))
        case ListValue():
            return ListValue(value.content)
        case Container():
            return Container(value.kind, value.content, value.keys, value.counted)
        case DictValue():
            return DictValue(dict(value.items), value.complete)
        case Module():
            return copy.copy(value)
    return value


def emptied(context: Context, value: StaticValue) -> StaticValue:
    """A list or dictionary as one that holds what is not known; another value as it is."""
    if isinstance(value, ListValue):
        return ListValue(ManyValue(UNKNOWN, context.fresh()))
    return DictValue({}, complete=False) if isinstance(value, DictValue) else value


def objects_in(value: StaticValue) -> dict[int, StaticValue]:
    """The objects that a program can change in a value, by their identity."""
    found: dict[int, StaticValue] = {}
    pending = [value]
    while pending:
        one = pending.pop()
        if id(one) in found:
            continue
        if isinstance(one, (Instance, ListValue, DictValue, Container, Module)):
            found[id(one)] = one
        pending.extend(_parts(one))
    return found


def _parts(value: StaticValue) -> tuple[StaticValue, ...]:
    match value:
        case Instance():
            return tuple(value.attributes.values()) if value.is_made else ()
        case DictValue():
            return tuple(value.items.values())
        case ListValue() | Container():
            return _parts(value.content)
        case ManyValue():
            return (value.element,)
        case Maybe():
            return (value.value,)
        case tuple():
            return value
    return ()


def _copy(value: StaticValue, done: dict[int, StaticValue]) -> StaticValue:
    if id(value) in done:
        return done[id(value)]
    match value:
        case Instance():
            instance = done[id(value)] = Instance(value.cls)
            instance.attributes.update({name: _copy(item, done) for name, item in value.attributes.items()})
            return instance
        case ListValue():
            made = done[id(value)] = ListValue(())
            made.content = _copy_content(value.content, done)
            return made
        case Container():
            container = done[id(value)] = Container(value.kind, (), value.keys, value.counted)
            container.content = _copy_content(value.content, done)
            return container
        case DictValue():
            table = done[id(value)] = DictValue({}, value.complete)
            table.items.update({key: _copy(item, done) for key, item in value.items.items()})
            return table
        case Maybe():
            return Maybe(_copy(value.value, done))
        case tuple() | ManyValue():
            return _copy_content(value, done)
        case Module():
            done[id(value)] = copy.copy(value)
            return done[id(value)]
    return value


def _copy_content(
    content: tuple[StaticValue, ...] | ManyValue, done: dict[int, StaticValue]
) -> tuple[StaticValue, ...] | ManyValue:
    if isinstance(content, ManyValue):
        return ManyValue(_copy(content.element, done), content.length)
    return tuple(_copy(item, done) for item in content)


@kept_on_node
def names_in(root: ast.expr) -> frozenset[str]:
    """The names that an expression uses."""
    return frozenset(node.id for node in walk(root) if isinstance(node, ast.Name))


@kept_on_node
def walrus_names(root: ast.expr) -> tuple[str, ...]:
    """The names that `:=` binds in an expression."""
    return tuple(node.target.id for node in walk(root) if isinstance(node, ast.NamedExpr))
