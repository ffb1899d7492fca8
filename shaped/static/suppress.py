"""Which findings are not reported: by `# type: ignore` comments, under mypy's own rules, and by the codes chosen."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from shaped.codes import parent_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shaped.static.report import Diagnostic

_TAG = re.compile(r"\s*\[([^]#]*)\]\s*(#.*)?$")
_MYPY_COMMENT = re.compile(r"^# *mypy: *(.*)", re.MULTILINE)
_IGNORE_ERRORS = re.compile(r"(?:^|,)\s*ignore[-_]errors\s*(?:=\s*True\s*)?(?:,|$)", re.IGNORECASE)
_DISABLED = re.compile(r"disable[-_]error[-_]code\s*=\s*(\"[^\"]*\"|'[^']*'|[\w-]+)")


class Suppression(NamedTuple):
    """The findings that stay, and those that a comment silences."""

    kept: list[Diagnostic]
    silenced: list[Diagnostic]


def split(source: str, diagnostics: Iterable[Diagnostic]) -> Suppression:
    """Part the findings of a file by the comments in its text.

    `# type: ignore` silences every finding that touches its line, `# type: ignore[shape]` those with the code `shape`
    or a sub-code of it (`shape-squeeze`). Before the first statement of a file the comment stands for the whole file,
    as does `# mypy: ignore-errors`; `# mypy: disable-error-code="shape"` does so for one code.

    Args:
        source: the file's text.
        diagnostics: what was found in it.
    """
    found = list(diagnostics)
    if not found or ("ignore" not in source and "mypy:" not in source):
        return Suppression(found, [])
    comments = _Comments.read(source)
    kept: list[Diagnostic] = []
    silenced: list[Diagnostic] = []
    for diagnostic in found:
        (silenced if comments.silence(diagnostic) else kept).append(diagnostic)
    return Suppression(kept, silenced)


def apply(source: str, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings that no comment silences."""
    return split(source, diagnostics).kept


def chosen(diagnostics: Iterable[Diagnostic], codes: frozenset[str]) -> list[Diagnostic]:
    """The findings whose codes are to be reported; notes, such as a revealed shape, were asked for and stay.

    Args:
        diagnostics: what was found.
        codes: the codes of the errors to report; `syntax` is reported in any case.
    """
    return [one for one in diagnostics if one.severity != "error" or one.code == "syntax" or one.code in codes]


class _Comments(NamedTuple):
    """What a file's comments ask for: codes by line (none: all of them), and for the whole file."""

    whole_file: bool
    disabled: frozenset[str]
    by_line: dict[int, frozenset[str]]

    @classmethod
    def read(cls, source: str) -> _Comments:
        """Read the comments; a file that does not parse has none."""
        try:
            tree = ast.parse(source, type_comments=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return cls(False, frozenset(), {})
        by_line: dict[int, frozenset[str]] = {}
        for ignore in tree.type_ignores:
            codes = _codes(ignore.tag)
            if codes is not None:
                by_line[ignore.lineno] = codes
        first = min((statement.lineno for statement in tree.body), default=0)
        whole_file = any(line < first and not codes for line, codes in by_line.items())
        disabled: set[str] = set()
        for comment in _MYPY_COMMENT.findall(source):
            whole_file = whole_file or _IGNORE_ERRORS.search(comment) is not None
            for codes_text in _DISABLED.findall(comment):
                disabled |= {code.strip() for code in codes_text.strip("\"'").split(",")}
        return cls(whole_file, frozenset(disabled), by_line)

    def silence(self, diagnostic: Diagnostic) -> bool:
        """Whether a comment silences the finding."""
        names = {diagnostic.code, parent_of(diagnostic.code)}
        if self.whole_file or names & self.disabled:
            return True
        first = diagnostic.span.line
        for line in range(first, max(first, diagnostic.span.end_line) + 1):
            codes = self.by_line.get(line)
            if codes is not None and (not codes or codes & names):
                return True
        return False


def _codes(tag: str) -> frozenset[str] | None:
    """The codes of `ignore[a, b]`; empty for a bare `ignore`, None for text that mypy does not take for a comment."""
    if not tag.strip() or tag.strip().startswith("#"):
        return frozenset()
    match = _TAG.match(tag)
    if match is None:
        return None
    return frozenset(code.strip() for code in match.group(1).split(","))
