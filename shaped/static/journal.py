"""Undoing and joining what several paths of a program change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from shaped.static.values import StaticValue

T = TypeVar("T")
Slots = dict[Any, "StaticValue"]


class LocalNames(dict[str, "StaticValue"]):
    """The names of a call under way that nothing else sees: a change of them is no change behind the call."""


class Missing:
    """The value of a name that a path does not set."""


MISSING = Missing()
Change = tuple[int, object]
Touched = dict[Change, tuple[Slots, object]]


@dataclass
class Changes:
    """What one path left behind: for each changed slot, the dictionary, the key and the value at the path's end."""

    slots: dict[Change, tuple[Slots, object, StaticValue | Missing]] = field(default_factory=dict)

    def beyond_the_call(self) -> Changes:
        """The changes that are seen when the call is over."""
        return Changes({change: slot for change, slot in self.slots.items() if not isinstance(slot[0], LocalNames)})


@dataclass
class Journal:
    """Every change to a dictionary of values goes through here, so that a path can be undone.

    >>> journal, names = Journal(), {"x": 1}
    >>> changes = journal.on_path(lambda: journal.set(names, "x", 2))[1]
    >>> names["x"], [value for _, _, value in changes.slots.values()]
    (1, [2])
    """

    epoch: int = 0  # grows whenever an object that outlives a call is changed
    changed: set[int] = field(default_factory=set)  # dictionaries that outlive a call, for who remembers what they held
    _before: list[dict[Change, tuple[Slots, object, StaticValue | Missing]]] = field(default_factory=list)
    _made: list[dict[int, Slots]] = field(default_factory=list)  # what each path under way has made itself
    _watching: list[Touched] = field(default_factory=list)

    def set(self, slots: Slots, key: object, value: StaticValue | Missing, *, local: bool = False) -> None:
        """Set (or with MISSING delete) a slot; `local` for the names of a call under way."""
        self.epoch += not (local or isinstance(slots, LocalNames))
        if not isinstance(slots, LocalNames):
            self.changed.add(id(slots))
        for touched in self._watching:
            touched[(id(slots), key)] = (slots, key)
        if self._before and id(slots) not in self._made[-1]:
            self._before[-1].setdefault((id(slots), key), (slots, key, slots.get(key, MISSING)))
        if isinstance(value, Missing):
            slots.pop(key, None)
        else:
            slots[key] = value

    def made(self, slots: Slots) -> None:
        """Note the dictionary of an object that the path under way makes: what it sets there is not undone.

        Nothing before the path knows the object, and what is left of it holds what the path gave it.
        """
        if self._made:
            self._made[-1][id(slots)] = slots

    def on_path(self, run: Callable[[], T]) -> tuple[T, Changes]:
        """Run one path, then undo it: its result, and what it changed."""
        self._before.append({})
        self._made.append({})
        try:
            result = run()
        finally:
            before = self._before.pop()
            self._made.pop()
            changes = Changes(
                {change: (slots, key, slots.get(key, MISSING)) for change, (slots, key, _) in before.items()}
            )
            for slots, key, old in before.values():
                if not isinstance(slots, LocalNames):
                    self.changed.add(id(slots))
                if isinstance(old, Missing):
                    slots.pop(key, None)
                else:
                    slots[key] = old
        return result, changes

    @contextmanager
    def watching(self) -> Iterator[Touched]:
        """The slots that are changed meanwhile, on paths that are undone or that raise, too."""
        touched: Touched = {}
        self._watching.append(touched)
        try:
            yield touched
        finally:
            self._watching.pop()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Changes that stay when the path under way is undone: what a module defines, an object that is made once."""
        before, self._before = self._before, []
        made, self._made = self._made, []
        try:
            yield
        finally:
            self._before, self._made = before, made

    def reset(self) -> None:
        """Forget the paths under way, after a fault that left them."""
        self._before.clear()
        self._made.clear()
        self._watching.clear()

    def depth(self) -> int:
        """A mark for `since`."""
        return len(self._before)

    def since(self, depth: int) -> Changes:
        """What was changed since `depth` was taken: the state where a path leaves a loop."""
        touched = {
            change: (slots, key) for before in self._before[depth:] for change, (slots, key, _) in before.items()
        }
        return Changes({change: (slots, key, slots.get(key, MISSING)) for change, (slots, key) in touched.items()})

    def apply(self, changes: Changes) -> None:
        """Make the changes of a path that was undone."""
        for slots, key, value in changes.slots.values():
            self.set(slots, key, value)

    def apply_joined(
        self,
        paths: list[Changes],
        join: Callable[[StaticValue | Missing, StaticValue | Missing], StaticValue | Missing],
    ) -> None:
        """Make the changes of several paths that meet, with `join` where they differ."""
        if len(paths) == 1:
            self.apply(paths[0])
            return
        touched = {change: (slots, key) for path in paths for change, (slots, key, _) in path.slots.items()}
        for change, (slots, key) in touched.items():
            old = slots.get(key, MISSING)
            values = [path.slots[change][2] if change in path.slots else old for path in paths]
            joined = values[0]
            for value in values[1:]:
                joined = join(joined, value)
            self.set(slots, key, joined)
