"""What a call can see of a value, as a key: two objects of one class with equal attributes are seen alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shaped.spec.op import Module
from shaped.spec.provenance import left_over
from shaped.spec.values import TensorType
from shaped.static.free_names import free_names
from shaped.static.journal import Journal
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
)

_DEEPEST = 12
_FIXED = (FunctionValue, ClassValue, External, Imported, SourceModule)


class Same:
    """An object as a key by its identity; it is kept alive with the key."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Print:
    """A long key, hashed once."""

    __slots__ = ("hash", "items")

    def __init__(self, items: Hashable) -> None:
        self.items = items
        self.hash = hash(items)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Print) and self.hash == other.hash and self.items == other.items)

    def __hash__(self) -> int:
        return self.hash


@dataclass
class _Taken:
    owner: object  # kept alive, so that its identity stays its own
    print: Print | None  # None if it has none
    read: set[int]  # the dictionaries that it depends on, by identity


@dataclass
class Fingerprints:
    """The fingerprints of objects and scopes, each taken anew only when something that it depends on was changed."""

    journal: Journal
    _taken: dict[int, _Taken] = field(default_factory=dict)
    _readers: dict[int, set[int]] = field(default_factory=dict)
    _reading: list[set[int]] = field(default_factory=list)
    _under_way: set[int] = field(default_factory=set)

    def of(self, value: object) -> Hashable:
        """The fingerprint of a value.

        Raises:
            TypeError: the value is nested too deep, or in itself.
        """
        self._forget_changed()
        return self._of(value, 0)

    def around(self, function: FunctionValue) -> Hashable:
        """The fingerprint of what a function, and those that it calls, may read of the scopes around it.

        Raises:
            TypeError: a value there is nested too deep, or in itself.
        """
        self._forget_changed()
        found: list[Hashable] = []
        scope: Environment | None = function.environment
        while scope is not None:
            found.append(self._scope(scope, function.module))
            scope = scope.outer
        return tuple(found)

    def _scope(self, scope: Environment, module: SourceModule) -> Hashable:
        if scope is not module.environment:
            return tuple(
                (name, Same(value) if isinstance(value, _FIXED) else self._of(value, 0))
                for name, value in sorted(scope.names.items())
            )

        def items() -> Hashable:
            self._read(scope.names)
            names = sorted(free_names(module.tree) & scope.names.keys())
            values = ((name, scope.names[name]) for name in names)
            return tuple((name, self._of(value, 0)) for name, value in values if not isinstance(value, _FIXED))

        return self._take(scope, items)

    def _forget_changed(self) -> None:
        changed = self.journal.changed
        if changed and self._taken:
            for slots in changed & self._readers.keys():
                for owner in self._readers.pop(slots):
                    self._taken.pop(owner, None)
        changed.clear()

    def _read(self, slots: Mapping[Any, object]) -> None:
        for reading in self._reading:
            reading.add(id(slots))

    def _take(self, owner: object, items: Callable[[], Hashable]) -> Print:
        key = id(owner)
        if key in self._under_way:
            raise TypeError(f"{type(owner).__name__} holds itself")
        taken = self._taken.get(key)
        if taken is None:
            read: set[int] = set()
            self._reading.append(read)
            self._under_way.add(key)
            taken = _Taken(owner, None, read)
            try:
                taken.print = Print(items())
            except TypeError:
                pass
            finally:
                self._reading.pop()
                self._under_way.discard(key)
            self._taken[key] = taken
            for slots in read:
                self._readers.setdefault(slots, set()).add(key)
        else:
            for reading in self._reading:
                reading |= taken.read
        if taken.print is None:
            raise TypeError(f"{type(owner).__name__} has no fingerprint")
        return taken.print

    def _of(self, value: object, depth: int) -> Hashable:
        if depth > _DEEPEST:
            raise TypeError("nested too deep")
        match value:
            case Instance():
                if not value.is_made:
                    return Same(value)
                return self._take(value, lambda: (Same(value.cls), self._items(value.attributes, depth)))
            case DictValue():
                return self._take(value, lambda: self._dict(value, depth))
            case ListValue():
                self._read(value.__dict__)
                return ("list", self._of(value.content, depth + 1))
            case Container():
                self._read(value.__dict__)
                return (value.kind, value.keys, value.counted, self._of(value.content, depth + 1))
            case ManyValue():
                return ("many", self._of(value.element, depth + 1), value.length)
            case Choice():
                return ("choice", tuple(self._of(option, depth + 1) for option in value.options))
            case Maybe():
                return ("maybe", self._of(value.value, depth + 1))
            case tuple():
                return tuple(self._of(item, depth + 1) for item in value)
            case dict():
                return self._items(value, depth)
            case Module():
                return (type(value), self._items(vars(value), depth))
            case TensorType():
                return (value, left_over(value.shape))
            case bool() | float():
                return (type(value), value)
            case FunctionValue():
                return Same(value)
        if isinstance(value, Hashable):
            return value
        raise TypeError(f"{type(value).__name__} has no fingerprint")

    def _dict(self, value: DictValue, depth: int) -> Hashable:
        self._read(value.__dict__)
        return ("dict", self._items(value.items, depth), value.complete)

    def _items(self, items: Mapping[Any, object], depth: int) -> Hashable:
        self._read(items)
        return tuple((key, self._of(item, depth + 1)) for key, item in items.items())
