"""The text of `[tool.shaped]`, read with messages that say what is wrong with it."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from shaped.static.config import CONFIGURABLE, Choice, Configuration, ConfigurationError, Override, Paths

if TYPE_CHECKING:
    from collections.abc import Iterable

_TABLE = "tool.shaped"
_KEYS = ("disable", "enable", "exclude", "overrides", "traceback")
_KEYS_OF_OVERRIDE = ("disable", "enable", "paths")


def parse(file: Path, data: bytes) -> Configuration | None:
    """What the text of a pyproject.toml says to this tool, None for nothing.

    Raises:
        ConfigurationError: it is no TOML, or means nothing.
    """
    try:
        tools = tomllib.loads(data.decode()).get("tool")
    except ValueError as error:
        raise ConfigurationError(f"{_shown(file)}: no TOML: {error}") from None
    if not isinstance(tools, dict) or "shaped" not in tools:
        return None
    table = _Table(f"{_shown(file)}: {_TABLE}", tools["shaped"], _KEYS)
    return Configuration(
        file.parent,
        table.choice(),
        Paths(table.patterns("exclude")),
        tuple(
            Override(Paths(override.patterns("paths", needed=True)), override.choice())
            for override in table.tables("overrides", _KEYS_OF_OVERRIDE)
        ),
        table.switch("traceback"),
    )


def choice(enable: Iterable[str], disable: Iterable[str], where: str) -> Choice:
    """A choice of codes by their names.

    Args:
        enable: codes to report.
        disable: codes not to.
        where: who names them, for messages.

    Raises:
        ConfigurationError: one is no code, or is both to be reported and not.
    """
    for code in (*enable, *disable):
        if code not in CONFIGURABLE:
            raise ConfigurationError(f"{where}: {code!r} is no diagnostic code{_nearest(code, CONFIGURABLE)}")
    both = frozenset(enable) & frozenset(disable)
    if both:
        raise ConfigurationError(f"{where}: {min(both)!r} is both enabled and disabled")
    return Choice(frozenset(enable), frozenset(disable))


class _Table:
    """A table of the file, under the name by which messages speak of it."""

    def __init__(self, name: str, content: object, keys: tuple[str, ...]) -> None:
        if not isinstance(content, dict):
            raise ConfigurationError(f"{name}: expected a table, not {_told(content)}")
        for key in content:
            if key not in keys:
                raise ConfigurationError(f"{name}.{key}: unknown key{_nearest(key, keys)}")
        self._name = name
        self._content: dict[str, object] = content

    def choice(self) -> Choice:
        """Its keys `enable` and `disable`."""
        enable, disable = self._strings("enable"), self._strings("disable")
        for key, codes in (("enable", enable), ("disable", disable)):
            choice(codes, (), f"{self._name}.{key}")
        return choice(enable, disable, self._name)

    def patterns(self, key: str, *, needed: bool = False) -> tuple[str, ...]:
        """A list of patterns of paths below the file's folder."""
        patterns = self._strings(key)
        if needed and not patterns:
            raise ConfigurationError(f'{self._name}.{key}: expected patterns of paths, such as ["tests/**"]')
        for pattern in patterns:
            if not pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
                wanted = "a pattern relative to the file's folder, such as 'tests/**'"
                raise ConfigurationError(f"{self._name}.{key}: expected {wanted}, not {pattern!r}")
        return tuple(patterns)

    def switch(self, key: str) -> bool:
        """A value that is true or false."""
        value = self._content.get(key, False)
        if not isinstance(value, bool):
            raise ConfigurationError(f"{self._name}.{key}: expected true or false, not {_told(value)}")
        return value

    def tables(self, key: str, keys: tuple[str, ...]) -> list[_Table]:
        """An array of tables."""
        value = self._content.get(key, [])
        if not isinstance(value, list):
            wanted = f"an array of tables, [[{_TABLE}.{key}]]"
            raise ConfigurationError(f"{self._name}.{key}: expected {wanted}, not {_told(value)}")
        return [_Table(f"{self._name}.{key}[{index}]", one, keys) for index, one in enumerate(value)]

    def _strings(self, key: str) -> list[str]:
        value = self._content.get(key, [])
        if not isinstance(value, list):
            raise ConfigurationError(f"{self._name}.{key}: expected a list of strings, not {_told(value)}")
        for one in value:
            if not isinstance(one, str):
                raise ConfigurationError(f"{self._name}.{key}: expected strings in the list, not {_told(one)}")
        return value


def _told(value: object) -> str:
    """A value as TOML would have it, where that is short."""
    if isinstance(value, bool):
        return str(value).lower()
    return "a table" if isinstance(value, dict) else repr(value)


def _nearest(name: str, names: Iterable[str]) -> str:
    """The name that is meant, or all that there are."""
    known = list(names)
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; expected one of {', '.join(known)}"


def _shown(file: Path) -> str:
    """A path as seen from the working folder, if it is below it."""
    here = Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
