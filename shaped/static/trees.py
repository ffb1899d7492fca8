"""Parsed sources, kept between checks: the files of a project import the same others again and again."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Final, NamedTuple

# A tree, with what is kept on its nodes, takes about a hundred times the memory of its text.
MOST_CHARACTERS: Final = 1_000_000


class _Parsed(NamedTuple):
    text: str
    tree: ast.Module


class Trees:
    """Trees of source by file, those that were not asked for the longest dropped first.

    Args:
        most_characters: of text whose trees are kept.
    """

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._characters = 0
        self._kept: dict[Path, _Parsed] = {}  # the last one was asked for last

    def parse(self, path: Path, text: str) -> ast.Module:
        """The tree of a file with this text, which nobody changes.

        Raises:
            SyntaxError: the text is no Python.
            ValueError: it holds characters that no source has.
            RecursionError: it is nested too deep to be parsed.
        """
        kept = self._drop(path)
        if kept is None or kept.text != text:
            kept = _Parsed(text, _parse(path, text))
        self._kept[path] = kept
        self._characters += len(text)
        while self._characters > self._most_characters and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))
        return kept.tree

    def _drop(self, path: Path) -> _Parsed | None:
        dropped = self._kept.pop(path, None)
        if dropped is not None:
            self._characters -= len(dropped.text)
        return dropped


def _parse(path: Path, text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the compiler's to report
        return ast.parse(text.removeprefix("\ufeff"), filename=str(path), type_comments=False)
