"""What a check found: diagnostics, assumptions, the shapes of expressions and how many of them are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "note"]


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source: lines from 1, columns from 0, the end column exclusive (as in `ast`)."""

    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, order=True)
class Note:
    """A line that a diagnostic points to, with what is to be seen there. `path` is empty for its own file."""

    line: int
    text: str
    path: str = ""

    def __str__(self) -> str:
        """The note as printed below a message: `128: out_features of self.fc1, line 10`."""
        if not self.line:
            return self.text
        return f"{self.text}, {self.path + ', ' if self.path else ''}line {self.line}"


@dataclass(frozen=True, order=True)
class Diagnostic:
    """One finding. `code` is `shape`, one of its sub-codes (`shape-squeeze`), `dtype`, `annotation` or `internal`."""

    path: str
    span: Span
    code: str
    message: str
    severity: Severity = "error"
    notes: tuple[Note, ...] = ()
    hint: str = ""


@dataclass(frozen=True, order=True)
class Assumption:
    """What the code at a line relies on: `d % h == 0`."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, order=True)
class ShownShape:
    """The shape of one expression, for `shaped show`: the shape as jaxtyping writes it (`b 10`).

    `is_many`: those of a tuple's tensors, each in quotes (`("b 10", "b")`).
    """

    span: Span
    source: str
    shape: str
    is_many: bool = False

    def __str__(self) -> str:
        return self.shape if self.is_many else f'"{self.shape}"'


@dataclass
class Statistics:
    """How many tensor expressions have a known shape, only a known rank, or neither; calls without a rule, by name."""

    shape_known: int = 0
    rank_known: int = 0
    unknown: int = 0
    without_rule: Counter[str] = field(default_factory=Counter)

    @property
    def tensors(self) -> int:
        """The number of tensor expressions."""
        return self.shape_known + self.rank_known + self.unknown

    def add(self, other: Statistics) -> None:
        """Count what `other` counted too."""
        self.shape_known += other.shape_known
        self.rank_known += other.rank_known
        self.unknown += other.unknown
        self.without_rule += other.without_rule


@dataclass
class Report:
    """All that a check of one file found, and the other source files that the answer depends on.

    `diagnostics` are the findings to report, `silenced` those that a `# type: ignore` comment keeps quiet (mypy wants
    them too, to tell which comments are used). `depends_on` may name files that do not exist, where one would change
    the answer. `packages` are the `__init__.py`, there or not, that say which packages the files belong to; of them
    only that counts whether they are there.
    """

    path: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    shapes: list[ShownShape] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    depends_on: set[str] = field(default_factory=set)
    silenced: list[Diagnostic] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
