"""Calls that were followed before: a layer that is applied twelve times is interpreted once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shaped.spec.op import Module
from shaped.static.free_names import free_names
from shaped.static.values import (
    Choice,
    ClassValue,
    Container,
    DictValue,
    Environment,
    External,
    FunctionValue,
    Imported,
    Instance,
    ListValue,
    ManyValue,
    Maybe,
    SourceModule,
    StaticValue,
)

if TYPE_CHECKING:
    from shaped.spec.facts import Facts
    from shaped.static.interpreter import Interpreter

Result = tuple["StaticValue", "Facts"]
_DEEPEST = 12


class Same:
    """An object as a key by its identity; it is kept alive with the key."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass
class Memory:
    """The results of calls by what they depend on. A call that reported its faults serves one that does not, too."""

    results: dict[tuple[Hashable, bool], Result] = field(default_factory=dict)

    def recall(self, key: Hashable | None, *, quiet: bool) -> Result | None:
        """The result of an equal call, None if there was none."""
        if key is None:
            return None
        found = self.results.get((key, False))
        return found if found is not None or not quiet else self.results.get((key, True))

    def keep(self, key: Hashable | None, result: Result, *, quiet: bool) -> None:
        """Remember a call that changed nothing."""
        if key is not None and not _is_object(result[0]):
            self.results[(key, quiet)] = result


def key(interpreter: Interpreter, function: FunctionValue, bound: dict[str, StaticValue]) -> Hashable | None:
    """What the result of a call depends on, None if that cannot be told."""
    context = interpreter.context
    try:
        values = tuple((name, _fingerprint(value, 0)) for name, value in bound.items())
        scope = (Same(function.node), Same(function.environment), *_surroundings(function))
        complete = (scope, values, context.certain, Same(context.facts))
        hash(complete)
    except TypeError:
        return None
    return complete


def _surroundings(function: FunctionValue) -> Iterator[Hashable]:
    """What a function, and those that it calls, may read of the scopes around it."""
    scope: Environment | None = function.environment
    while scope is not None:
        module_level = scope is function.module.environment
        names = free_names(function.module.tree) & scope.names.keys() if module_level else scope.names.keys()
        for name in sorted(names):
            value = scope.names[name]
            if not isinstance(value, _FIXED):
                yield (name, _fingerprint(value, 0))
            elif not module_level:
                yield (name, Same(value))
        scope = scope.outer


_FIXED = (FunctionValue, ClassValue, External, Imported, SourceModule)


def _is_object(value: object) -> bool:
    """Whether a value is or holds an object that each call makes anew."""
    if isinstance(value, tuple):
        return any(map(_is_object, value))
    if isinstance(value, (Maybe, ManyValue)):
        return _is_object(value.value if isinstance(value, Maybe) else value.element)
    return isinstance(value, (ListValue, DictValue, Instance, Container, Module))


def _fingerprint(value: object, depth: int) -> Hashable:
    """What a call can see of a value: two objects of one class with equal attributes are seen alike.

    Raises:
        TypeError: the value is nested too deep, or in itself.
    """
    if depth > _DEEPEST:
        raise TypeError("nested too deep")
    match value:
        case Instance():
            return (Same(value.cls), _items(value.attributes, depth))
        case DictValue():
            return ("dict", _items(value.items, depth), value.complete)
        case ListValue():
            return ("list", _fingerprint(value.content, depth + 1))
        case Container():
            return (value.kind, value.keys, value.counted, _fingerprint(value.content, depth + 1))
        case ManyValue():
            return ("many", _fingerprint(value.element, depth + 1), value.length)
        case Choice():
            return ("choice", tuple(_fingerprint(option, depth + 1) for option in value.options))
        case Maybe():
            return ("maybe", _fingerprint(value.value, depth + 1))
        case tuple():
            return tuple(_fingerprint(item, depth + 1) for item in value)
        case Module():
            return (type(value), _items(vars(value), depth))
        case bool() | float():
            return (type(value), value)
        case FunctionValue():
            return Same(value)
    if isinstance(value, Hashable):
        return value
    raise TypeError(f"{type(value).__name__} has no fingerprint")


def _items(items: dict[str, StaticValue] | dict[object, StaticValue], depth: int) -> Hashable:
    return tuple((key, _fingerprint(item, depth + 1)) for key, item in items.items())
