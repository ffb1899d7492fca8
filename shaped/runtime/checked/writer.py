"""Lines of generated code, the objects that they refer to, and names that collide with nothing."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Lines = Sequence[str]
"""Lines of code, relative to where they stand."""


class Writer:
    """Collects the lines of a function and the global names that they use.

    Args:
        parameters: the names of the function's parameters.
    """

    def __init__(self, parameters: frozenset[str]) -> None:
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {}
        self._parameters = parameters
        self._taken = {*parameters, *dir(builtins), *keyword.kwlist}
        self._depth = 0
        self._constants: dict[int, str] = {}

    def line(self, *lines: str) -> None:
        """Add lines at the current depth."""
        self.lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Add `header` and indent what is added inside."""
        self.line(header)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def refuse_if(self, condition: str, fail: Lines) -> None:
        """Write what a check does where a condition holds."""
        with self.block(f"if {condition}:"):
            self.line(*fail)

    def is_no(self, value: str, kind: Any) -> str:
        """An expression for a value that is no instance of a class."""
        return f"not {self.builtin('isinstance')}({value}, {self.constant(getattr(kind, '__name__', 'kind'), kind)})"

    def name(self, wish: str) -> str:
        """A name that nothing else has, like `wish`."""
        wish = "".join(character if character.isalnum() else "_" for character in wish)
        name, number = wish, 1
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name

    def builtin(self, name: str) -> str:
        """The name of one of Python's own functions or exceptions, another one where a parameter has that name."""
        return self.constant(name, getattr(builtins, name)) if name in self._parameters else name

    def constant(self, wish: str, value: Any) -> str:
        """The global name of an object, the same for the same object."""
        if id(value) not in self._constants:
            name = self.name(wish)
            self.scope[name] = value
            self._constants[id(value)] = name
        return self._constants[id(value)]

    @property
    def text(self) -> str:
        """The source."""
        return "\n".join(self.lines) + "\n"
