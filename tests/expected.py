"""The diagnostics that a test program expects, read from its comments, and those that the checker gives.

A line that is to be reported ends in `# error: shape` (the code), `# error[shape]`, or `# error[shape]: dimensions`
(a code and a part of the message).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaped.static.check import Checker

if TYPE_CHECKING:
    from pathlib import Path

    from shaped.static.report import Diagnostic

_MARK = re.compile(r"#\s*error(?:\[(?P<code>[a-z-]+)\](?::\s*(?P<part>.+))?|:\s*(?P<only_code>[a-z-]+))\s*$")


@dataclass(frozen=True)
class Expected:
    """One diagnostic that is expected on a line."""

    line: int
    code: str
    part: str = ""

    def is_met_by(self, diagnostic: Diagnostic) -> bool:
        """Whether this is the diagnostic. `shape` stands for its sub-codes too."""
        return (
            diagnostic.span.line == self.line
            and (diagnostic.code == self.code or diagnostic.code.startswith(self.code + "-"))
            and self.part in diagnostic.message
        )


def expected_in(source: str) -> list[Expected]:
    """The diagnostics that the comments of a program announce.

    >>> expected_in("x = a @ b  # error[shape]: inner dimensions")
    [Expected(line=1, code='shape', part='inner dimensions')]
    >>> expected_in("x = e(a / 2)  # error: dtype")
    [Expected(line=1, code='dtype', part='')]
    """
    return [
        Expected(number, mark["code"] or mark["only_code"], (mark["part"] or "").strip())
        for number, line in enumerate(source.splitlines(), start=1)
        if (mark := _MARK.search(line))
    ]


def errors_in(path: Path) -> list[Diagnostic]:
    """What the checker reports for a file, without its notes."""
    return [found for found in Checker().check(path).diagnostics if found.severity == "error"]


def told(diagnostics: list[Diagnostic]) -> str:
    """Diagnostics as lines of text, for a failing test's output."""
    return "\n".join(f"line {found.span.line}: [{found.code}] {found.message}" for found in diagnostics)
