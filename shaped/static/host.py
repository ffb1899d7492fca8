"""What every host of the checker needs (the command line, mypy, an editor): sources, and reports that never fail."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shaped.codes import DEFAULT_CODES
from shaped.static.report import Diagnostic, Report, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shaped.static.check import Checker

_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
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
    data = path.read_bytes()
    encoding = "utf-8-sig"
    for line in data.split(b"\n", 2)[:2]:
        declared = _ENCODING.match(line)
        if declared:
            encoding = declared.group(1).decode()
    if encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        return data.decode(encoding)
    except LookupError:  # an encoding that does not exist: Python itself refuses the file
        return data.decode("utf-8-sig", errors="replace")


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
    try:
        report = checker.check(path, source, codes)
    except Exception as fault:  # whatever it is, the host goes on
        report = Report(str(path), [fault_note(str(path), fault)])
        return Checked(report, source, traceback.format_exc())
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
    return Checked(report, source)


def _from_here(name: str) -> str:
    """A path below the working folder as seen from there, another as it is."""
    path, here = Path(name), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else name


def fault_note(path: str, fault: Exception) -> Diagnostic:
    """The note that a file was skipped because the checker itself failed."""
    message = f"shaped: this file was skipped: {type(fault).__name__} in the checker itself (not in your code)"
    return Diagnostic(path, Span(1), "internal", message, severity="note")


def error_count(reports: Iterable[Report]) -> int:
    """How many errors the reports hold."""
    return sum(diagnostic.severity == "error" for report in reports for diagnostic in report.diagnostics)
