"""The variables that stand for the names of axes, at each place of generated code.

No variable of a name is assigned twice on one path, so an option of a union that fails is undone by going on with the
names from before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shaped.runtime.checked.hints import Hint, pack_names, size_names
from shaped.runtime.checked.writer import Writer


@dataclass(frozen=True)
class Variable:
    """The variable of a name, and whether the name is bound for certain where the code has come to."""

    text: str
    is_bound: bool


@dataclass
class Names:
    """The variables of the names of axes at one place of the code; a name without one is not bound there."""

    sizes: dict[str, Variable] = field(default_factory=dict)
    packs: dict[str, Variable] = field(default_factory=dict)

    def copy(self) -> Names:
        return Names(dict(self.sizes), dict(self.packs))


class Merge:
    """The variables of names that branches of the code bind, each in its own way."""

    def __init__(self, writer: Writer, before: Names, hint: Hint, growing: frozenset[str]) -> None:
        self.writer = writer
        self.before = before.copy()
        sizes = [name for name in size_names(hint) if not _is_bound(before.sizes, name)]
        packs = [name for name in pack_names(hint) if name in growing or not _is_bound(before.packs, name)]
        self.sizes = {name: writer.name(f"size_{name}") for name in sizes}
        self.packs = {name: writer.name(f"sizes_{name}") for name in packs}
        self.unbound: set[str] = set()

    @property
    def is_empty(self) -> bool:
        """Whether no branch binds anything."""
        return not self.sizes and not self.packs

    def loop(self) -> Names:
        """Before a loop: the names at the start of its body, as the round before has left them."""
        self.branch(self.before)
        names = self.before.copy()
        names.sizes.update({name: Variable(text, False) for name, text in self.sizes.items()})
        names.packs.update({name: Variable(text, False) for name, text in self.packs.items()})
        return names

    def branch(self, names: Names) -> Names:
        """At the end of a branch: hand on its names; gives those that the next branch starts with."""
        self._assign(names.sizes, self.sizes, "")
        self._assign(names.packs, self.packs, "*")
        return self.before.copy()

    def _assign(self, variables: Mapping[str, Variable], merged: Mapping[str, str], mark: str) -> None:
        for name, text in merged.items():
            known = variables.get(name, Variable("None", False))
            if not known.is_bound:
                self.unbound.add(mark + name)
            if known.text != text:
                self.writer.line(f"{text} = {known.text}")

    def merged(self) -> Names:
        """After the branches: names that every branch binds are bound."""
        names = self.before.copy()
        names.sizes.update({name: Variable(text, name not in self.unbound) for name, text in self.sizes.items()})
        names.packs.update({name: Variable(text, f"*{name}" not in self.unbound) for name, text in self.packs.items()})
        return names


def _is_bound(variables: Mapping[str, Variable], name: str) -> bool:
    return name in variables and variables[name].is_bound
