"""Configuration: which files are checked and which codes are reported, by `[tool.shaped]` in pyproject.toml.

A file belongs to the nearest pyproject.toml above it that has this table. `docs/configuration.md` describes the keys.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from shaped.codes import CODES, DEFAULT_CODES, parent_of
from shaped.static.usage_error import UsageError

FILE: Final = "pyproject.toml"
# `syntax` and `internal` say that a file was not checked; `type` is said at run time only.
CONFIGURABLE: Final = sorted(CODES.keys() - {"internal", "syntax", "type"})


class ConfigurationError(UsageError):
    """A configuration that means nothing; the message names the file, the key and what was expected."""


@dataclass(frozen=True)
class Choice:
    """Codes to report, and codes not to. One that is not named goes with its parent: `shape-squeeze` with `shape`.

    A code that is off by default is enabled by its own name only.
    """

    enable: frozenset[str] = frozenset()
    disable: frozenset[str] = frozenset()

    def applied_to(self, codes: frozenset[str]) -> frozenset[str]:
        """The codes to report where without this choice they were `codes`.

        >>> choice = Choice(enable=frozenset({"shape-squeeze"}), disable=frozenset({"shape"}))
        >>> sorted(choice.applied_to(frozenset({"dtype", "shape", "shape-axes"})))
        ['dtype', 'shape-squeeze']
        """
        if not self.enable and not self.disable:
            return codes
        return frozenset(code for code in CODES if self._reports(code, otherwise=code in codes))

    def _reports(self, code: str, *, otherwise: bool) -> bool:
        for name in (code, parent_of(code)):
            if name in self.enable:
                return name == code or otherwise or CODES[code].is_default
            if name in self.disable:
                return False
        return otherwise


@dataclass(frozen=True)
class Paths:
    """Paths below a folder, by patterns such as `tests/**`; a pattern that matches a folder stands for all in it.

    >>> paths = Paths(("tests", "**/legacy_*.py"))
    >>> [path in paths for path in ("tests/test_net.py", "src/legacy_net.py", "src/net.py")]
    [True, True, False]
    """

    patterns: tuple[str, ...] = ()

    def __contains__(self, path: str) -> bool:
        return bool(self.patterns) and self._expression.match(path) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile(f"(?:{'|'.join(map(_regular_expression, self.patterns))})(?:/|$)")


_WILDCARDS: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?)")


def _regular_expression(pattern: str) -> str:
    """The regular expression of a pattern: `*` and `?` stay within one folder, `**` is any number of folders.

    >>> _regular_expression("a/**/b?.py")
    'a/(?:[^/]+/)*b[^/]\\\\.py'
    """
    parts = _WILDCARD.split(pattern.removeprefix("./").removesuffix("/"))
    return "".join(_WILDCARDS.get(part) or re.escape(part) for part in parts)


@dataclass(frozen=True)
class Override:
    """A choice for some of the files."""

    paths: Paths
    choice: Choice


@dataclass(frozen=True)
class Configuration:
    """What one pyproject.toml says; patterns are relative to its folder."""

    folder: Path
    choice: Choice = Choice()
    exclude: Paths = Paths()
    overrides: tuple[Override, ...] = ()
    traceback: bool = False

    def is_excluded(self, path: Path) -> bool:
        """Whether the file at this absolute path is not to be checked."""
        return path.relative_to(self.folder).as_posix() in self.exclude

    def codes(self, path: Path) -> frozenset[str]:
        """The codes that are reported in the file at this absolute path."""
        codes = self.choice.applied_to(DEFAULT_CODES)
        for override in self.overrides:
            if path.relative_to(self.folder).as_posix() in override.paths:
                codes = override.choice.applied_to(codes)
        return codes


class Configurations:
    """The configurations of all files of a run; each pyproject.toml is read once.

    Its methods raise `ConfigurationError` for a file whose configuration means nothing.

    Args:
        choice: what the command line asks for, which goes before what the files say.
    """

    def __init__(self, choice: Choice | None = None) -> None:
        self._choice = choice or Choice()
        self._of_folder: dict[Path, Configuration | None] = {}

    def codes(self, path: Path) -> frozenset[str]:
        """The codes that are reported in a file."""
        path = _normal(path)
        configuration = self._of(path.parent)
        return self._choice.applied_to(DEFAULT_CODES if configuration is None else configuration.codes(path))

    def is_excluded(self, path: Path) -> bool:
        """Whether a file is not to be checked, unless it is asked for by name."""
        path = _normal(path)
        configuration = self._of(path.parent)
        return configuration is not None and configuration.is_excluded(path)

    def wants_traceback(self, path: Path) -> bool:
        """Whether the checker's own faults in a file are to be shown in full."""
        configuration = self._of(_normal(path).parent)
        return configuration is not None and configuration.traceback

    def has_changed(self) -> bool:
        """Whether a file says something else by now than when it was read."""
        again = Configurations(self._choice)
        try:
            return any(again._of(folder) != known for folder, known in self._of_folder.items())
        except ConfigurationError:
            return True

    def _of(self, folder: Path) -> Configuration | None:
        if folder not in self._of_folder:
            configuration = read(folder / FILE)
            if configuration is None and folder.parent != folder:
                configuration = self._of(folder.parent)
            self._of_folder[folder] = configuration
        return self._of_folder[folder]


def _normal(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - the folders above `a/../b.py` are those of `b.py`


def read(file: Path) -> Configuration | None:
    """What a pyproject.toml says to this tool, None if it says nothing or is not there.

    Raises:
        ConfigurationError: what it says means nothing.
    """
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if b"shaped" not in data:  # in most projects nothing has to be parsed
        return None
    from shaped.static.config_file import parse

    return parse(file, data)
