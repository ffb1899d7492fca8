"""Reports kept between runs, each with the state of all files that it was made from.

A report is taken from the cache only if the checker, the version of Python, the file's text and every file that the
report depends on are what they were, by digests of the texts. An entry that is broken or unreadable is none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shaped.static.report import Assumption, Diagnostic, Note, Report, Span, Statistics
from shaped.static.snapshot import checker_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shaped.static.snapshot import Snapshot

FOLDER: Final = ".shaped_cache"
_FORMAT = 1
_MOST_BYTES = 100 * 2**20
_DAY = 24 * 60 * 60
_OLDEST = 30 * _DAY
_README = {
    ".gitignore": "# Made by shaped.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache of shaped, and can be deleted. See https://bford.info/cachedir/\n",
}


class Cache:
    """The reports of earlier runs, in a folder.

    Runs that share a folder do not disturb each other: an entry is written beside its place and then moved there.

    Args:
        folder: where the entries are; made when the first one is written.
        snapshot: the files as this run sees them.
    """

    def __init__(self, folder: Path, snapshot: Snapshot) -> None:
        self.folder = folder
        self._snapshot = snapshot
        self._version = f"{_FORMAT} {checker_digest()} {sys.version}"
        self._has_written = False

    def load(self, path: Path, text_digest: str) -> Report | None:
        """The report on a file with this text, without the shapes of its expressions; None if it is to be made anew."""
        entry = self._entry(path)
        try:
            with entry.open("rb") as file:
                kept = json.load(file)
                age = time.time() - os.fstat(file.fileno()).st_mtime
            if (kept["version"], kept["path"], kept["text"]) != (self._version, str(path), text_digest):
                return None
            if not all(self._snapshot.is_as(Path(other), state) for other, state in kept["files"].items()):
                return None
            report = _report(str(path), kept["report"])
            if age > _DAY:  # what is in use is not dropped
                os.utime(entry)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None
        return report

    def save(self, path: Path, text_digest: str, report: Report) -> None:
        """Keep the report on a file with this text."""
        files = sorted({*report.depends_on, *report.packages} - {str(path)})
        kept = {
            "version": self._version,
            "path": str(path),
            "text": text_digest,
            "files": {file: self._snapshot.state(Path(file)) for file in files},
            "report": _data(report),
        }
        try:
            if not self._has_written:
                self._make_folder()
            with tempfile.NamedTemporaryFile(
                "w", dir=self.folder, suffix=".tmp", delete=False, encoding="utf-8"
            ) as file:
                json.dump(kept, file, ensure_ascii=False, separators=(",", ":"))
            Path(file.name).replace(self._entry(path))
        except (OSError, ValueError):  # a folder that is full or not ours: the next run makes the report again
            return

    def trim(self, most_bytes: int = _MOST_BYTES) -> None:
        """Drop entries that were not used for a month, and the longest unused ones beyond a size of the folder."""
        try:
            with os.scandir(self.folder) as scan:
                entries = [(entry, entry.stat()) for entry in scan if entry.name.endswith((".json", ".tmp"))]
        except OSError:
            return
        now, size = time.time(), 0
        for entry, status in sorted(entries, key=lambda one: one[1].st_mtime, reverse=True):
            size += status.st_size
            age = now - status.st_mtime
            if age > (_DAY if entry.name.endswith(".tmp") else _OLDEST) or size > most_bytes:
                Path(entry.path).unlink(missing_ok=True)

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in _README.items():
            file = self.folder / name
            if not file.exists():
                file.write_text(text, encoding="utf-8")
        self._has_written = True

    def _entry(self, path: Path) -> Path:
        return self.folder / (hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:32] + ".json")


def users_cache() -> Path:
    """Where reports on files are kept that belong to no project with a pyproject.toml."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen, "shaped")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", ""), "shaped", "cache")
    try:
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "shaped"
    except RuntimeError:  # a user without a home has no cache: this cannot be a folder
        return Path(os.devnull)


def _data(report: Report) -> dict[str, Any]:
    """A report as JSON has it."""
    statistics = report.statistics
    return {
        "diagnostics": [_diagnostic_data(one) for one in report.diagnostics],
        "silenced": [_diagnostic_data(one) for one in report.silenced],
        "assumptions": [[one.path, one.line, one.text] for one in report.assumptions],
        "statistics": [statistics.shape_known, statistics.rank_known, statistics.unknown, statistics.without_rule],
    }


def _diagnostic_data(one: Diagnostic) -> list[Any]:
    span = [one.span.line, one.span.column, one.span.end_line, one.span.end_column]
    notes = [[note.line, note.text, note.path] for note in one.notes]
    return [one.path, span, one.code, one.message, one.severity, notes, one.hint]


def _report(path: str, data: dict[str, Any]) -> Report:
    shape_known, rank_known, unknown, without_rule = data["statistics"]
    return Report(
        path,
        diagnostics=_diagnostics(data["diagnostics"]),
        silenced=_diagnostics(data["silenced"]),
        assumptions=[Assumption(*one) for one in data["assumptions"]],
        statistics=Statistics(shape_known, rank_known, unknown, Counter(without_rule)),
    )


def _diagnostics(data: Iterable[list[Any]]) -> list[Diagnostic]:
    return [
        Diagnostic(path, Span(*span), code, message, severity, tuple(Note(*note) for note in notes), hint)
        for path, span, code, message, severity, notes, hint in data
    ]
