"""The names of axes in a program: those of its annotations, for torch.export's symbols.

torch finds out which sizes may vary and which depend on which. A name of an annotation and a symbol of the program are
one where they stand for one axis, and with them all names and symbols that stand for other axes of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import sympy  # type: ignore[import-untyped]  # torch's own dependency has no types
import torch
from torch.utils._sympy.printers import PythonPrinter  # it writes integer division as Python does

from shaped.runtime.exported.signature import is_safe_axis

Size = int | torch.SymInt


class AxisNames:
    """Which names and symbols stand for one size, and how it is written.

    >>> names = AxisNames()
    >>> names.join("b", "s0")
    >>> names.join("d", 8)
    >>> names.written("s0"), names.written("d"), names.written("s1")
    ('b', '8', 's1')
    """

    def __init__(self) -> None:
        self._parents: dict[str | int, str | int] = {}
        self._names: list[str] = []

    def join(self, name: str, other: str | int) -> None:
        """A name of an annotation stands for a symbol, or for a size that cannot vary."""
        if name not in self._names:
            self._names.append(name)
        one, another = self._root(name), self._root(other)
        if isinstance(one, int):
            one, another = another, one
        if one != another:
            self._parents[one] = another

    def _root(self, member: str | int) -> str | int:
        while member in self._parents:
            member = self._parents[member]
        return member

    def written(self, symbol: str) -> str:
        """A symbol as a size, if it has one; else as the first name that stands for it; else as itself."""
        root = self._root(symbol)
        if isinstance(root, int):
            return str(root)
        return next((name for name in self._names if self._root(name) == root), symbol)


def symbol_of(size: Size) -> str | int | None:
    """The symbol that a size is, or the int; None for arithmetic."""
    if isinstance(size, int):
        return size
    expression = size.node.expr
    if isinstance(expression, sympy.Integer):
        return int(expression)
    return str(expression) if isinstance(expression, sympy.Symbol) else None


def axes_text(sizes: Sequence[Size], names: AxisNames, known: Iterable[str]) -> str:
    """Axes as jaxtyping writes them; `_` for a size that depends on what no input has.

    Args:
        known: the symbols of the inputs.
    """
    symbols = frozenset(known)
    return " ".join(_axis_text(size, names, symbols) for size in sizes)


def _axis_text(size: Size, names: AxisNames, known: frozenset[str]) -> str:
    symbol = symbol_of(size)
    if isinstance(symbol, int):
        return str(symbol)
    assert isinstance(size, torch.SymInt)
    expression = size.node.expr
    used = {str(one) for one in expression.free_symbols}
    if not used <= known:
        return "_"
    if symbol is not None:
        return names.written(symbol)
    text = PythonPrinter().doprint(expression).replace(" ", "").replace("Max(", "max(").replace("Min(", "min(")
    text = re.sub(r"[A-Za-z]\w*", lambda found: names.written(found[0]) if found[0] in used else found[0], text)
    return text if is_safe_axis(text) else "_"


def symbols_of(sizes: Iterable[Size]) -> set[str]:
    """The symbols that sizes are, those of arithmetic left out."""
    return {symbol for size in sizes if isinstance(symbol := symbol_of(size), str)}


def ranges_of(constraints: Mapping[sympy.Symbol, object], names: AxisNames) -> dict[str, tuple[int, int | None]]:
    """The least and the largest size of each name, by those that torch found for its symbols."""
    found: dict[str, tuple[int, int | None]] = {}
    for symbol, between in constraints.items():
        name = names.written(str(symbol))
        if name.isdigit():
            continue
        lower, upper = _bound(getattr(between, "lower", None)) or 0, _bound(getattr(between, "upper", None))
        before = found.get(name, (lower, upper))
        uppers = [one for one in (before[1], upper) if one is not None]
        found[name] = (max(before[0], lower), min(uppers, default=None))
    return found


def _bound(value: object) -> int | None:
    """An end of a range, None for no end."""
    return int(value) if isinstance(value, (int, sympy.Integer)) else None
