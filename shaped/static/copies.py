"""Copies of objects that a program can change: what is made again in the same way is equal, but not the same."""

from __future__ import annotations

import ast
import copy
import functools

from shaped.spec.op import Module
from shaped.static.values import Container, DictValue, Instance, ListValue, ManyValue, Maybe, StaticValue


def copied(value: StaticValue) -> StaticValue:
    """A value equal to `value` that shares no object with it; modules inside it are copied too."""
    return _copy(value, {})


def _copy(value: StaticValue, done: dict[int, StaticValue]) -> StaticValue:
    if id(value) in done:
        return done[id(value)]
    match value:
        case Instance():
            instance = done[id(value)] = Instance(value.cls)
            instance.attributes.update({name: _copy(item, done) for name, item in value.attributes.items()})
            return instance
        case ListValue():
            return ListValue(_copy_content(value.content, done))
        case Container():
            return Container(value.kind, _copy_content(value.content, done), value.keys, value.counted)
        case DictValue():
            return DictValue({key: _copy(item, done) for key, item in value.items.items()}, value.complete)
        case Maybe():
            return Maybe(_copy(value.value, done))
        case tuple() | ManyValue():
            return _copy_content(value, done)
        case Module():
            return copy.copy(value)
    return value


def _copy_content(
    content: tuple[StaticValue, ...] | ManyValue, done: dict[int, StaticValue]
) -> tuple[StaticValue, ...] | ManyValue:
    if isinstance(content, ManyValue):
        return ManyValue(_copy(content.element, done), content.length)
    return tuple(_copy(item, done) for item in content)


@functools.cache
def names_in(*nodes: ast.expr) -> frozenset[str]:
    """The names that expressions use."""
    return frozenset(node.id for root in nodes for node in ast.walk(root) if isinstance(node, ast.Name))


@functools.cache
def walrus_names(root: ast.expr) -> tuple[str, ...]:
    """The names that `:=` binds in an expression."""
    return tuple(node.target.id for node in ast.walk(root) if isinstance(node, ast.NamedExpr))
