"""What every host of the checker needs (the command line, mypy, an editor): sources, and reports that never fail."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shaped.codes import DEFAULT_CODES
from shaped.static.report import Diagnostic, Report, Span
from shaped.static.snapshot import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shaped.static.check import Checker

_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})


class Checked(NamedTuple):
    """One file's text and what was found in it; `traceback` is that of a fault in the checker itself, if any."""

    report: Report
    source: str
    traceback: str = ""


class Positions:
    """Columns as people count them: the syntax tree counts bytes, and letters such as é have several."""

    def __init__(self, source: str) -> None:
        self._lines = None if source.isascii() else source.splitlines()

    def column(self, line: int, offset: int) -> int:
        """The column, from 0, in characters.

        >>> Positions("é = x").column(1, 5)
        4
        """
        if self._lines is None or not 0 < line <= len(self._lines):
            return offset
        return len(self._lines[line - 1].encode()[:offset].decode(errors="ignore"))


def read_source(path: Path) -> str:
    """The text of a Python file, in the encoding that it declares.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: it is not text in that encoding.
    """
    return decoded(path.read_bytes())


def python_files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, in order; virtual environments, caches and hidden folders are left out."""
    entries = sorted(folder.iterdir())
    for entry in entries:
        if entry.suffix == ".py" and entry.is_file():
            yield entry
    for entry in entries:
        if entry.name in _SKIPPED_FOLDERS or entry.name.startswith(".") or not entry.is_dir():
            continue
        if entry.is_symlink() or (entry / "pyvenv.cfg").exists():
            continue
        yield from python_files(entry)


def check_source(checker: Checker, path: Path, source: str, codes: frozenset[str] = DEFAULT_CODES) -> Checked:
    """Check one file; a fault in the checker itself becomes one note that names the file.

    Args:
        checker: what checks it.
        path: the file, as the findings are to name it.
        source: its text.
        codes: the codes of the errors that are reported.
    """
    return with_shown_paths(checked_by(checker, path, source, codes), path)


def checked_by(checker: Checker, path: Path, source: str, codes: frozenset[str]) -> Checked:
    """The same with files named by where they are, as the checker does it."""
    try:
        return Checked(checker.check(path, source, codes), source)
    except Exception as fault:  # whatever it is, the host goes on
        return Checked(Report(str(path), [fault_note(str(path), fault)]), source, traceback.format_exc())


def with_shown_paths(checked: Checked, path: Path) -> Checked:
    """A report that names its own file as `path` does, and those below the working folder as seen from there."""
    report = checked.report
    own = {str(path), str(path.absolute())}

    def shown(name: str) -> str:
        return str(path) if name in own else _from_here(name)

    def with_paths(diagnostic: Diagnostic) -> Diagnostic:
        notes = tuple(replace(note, path=shown(note.path)) if note.path else note for note in diagnostic.notes)
        return replace(diagnostic, path=shown(diagnostic.path), notes=notes)

    report.path = str(path)
    report.diagnostics = list(map(with_paths, report.diagnostics))
    report.silenced = list(map(with_paths, report.silenced))
    report.assumptions = [replace(assumption, path=shown(assumption.path)) for assumption in report.assumptions]
    return checked


def _from_here(name: str) -> str:
    """A path below the working folder as seen from there, another as it is."""
    path, here = Path(name), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else name


def fault_note(path: str, fault: Exception) -> Diagnostic:
    """The note that a file was skipped because the checker itself failed."""
    return skipped_note(path, f"{type(fault).__name__} in the checker itself (not in your code)")


def skipped_note(path: str, why: str) -> Diagnostic:
    """The note that a file was not checked."""
    return Diagnostic(path, Span(1), "internal", f"shaped: this file was skipped: {why}", severity="note")


def error_count(reports: Iterable[Report]) -> int:
    """How many errors the reports hold."""
    return sum(diagnostic.severity == "error" for report in reports for diagnostic in report.diagnostics)
