"""A mypy plugin for the tests: the real plugin over a stand-in checker.

It reports what comments ask for: `# BUG code message`, and `# WANT n` unless the `SIZE = n` of some imported file is n.
Each file that it checks is noted in `checked.log`.
"""

from __future__ import annotations

import re
from pathlib import Path

from shaped.codes import DEFAULT_CODES
from shaped.static import suppress
from shaped.static.check import Checker
from shaped.static.report import Diagnostic, Note, Report, Span

_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
_BUG = re.compile(r"# BUG (\S+) (.*?)$")
_WANT = re.compile(r"# WANT (\d+)")
_SIZE = re.compile(r"^SIZE = (\d+)", re.MULTILINE)


def check(checker: Checker, path: Path, source: str | None = None, codes: frozenset[str] = DEFAULT_CODES) -> Report:
    """Stands in for `Checker.check`."""
    assert source is not None
    with Path("checked.log").open("a") as log:
        log.write(f"{path.name}\n")
    if "CRASH" in source:
        raise ZeroDivisionError("no such shape")
    report = Report(str(path))
    _follow(path.parent, source, report.depends_on)
    sizes = [size for file in sorted(report.depends_on) for size in _SIZE.findall(Path(file).read_text())]
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        start, end = (len(part.encode()) for part in (line.partition("=")[0], line.partition("#")[0].rstrip()))
        span = Span(number, start, number, end)
        bug, want = _BUG.search(line), _WANT.search(line)
        if bug:
            notes = (Note(10, "128: out_features of self.fc1"),)
            found.append(Diagnostic(str(path), span, bug[1], bug[2], notes=notes, hint="nn.Linear(128, 10)?"))
        if want and want[1] not in sizes:
            found.append(Diagnostic(str(path), span, "shape", f"wants {want[1]}, has {' '.join(sizes)}"))
        if "REVEAL" in line:
            found.append(Diagnostic(str(path), span, "shape", 'Revealed shape is "b 10"', severity="note"))
    report.diagnostics, report.silenced = suppress.split(source, suppress.chosen(found, codes))
    return report


def _follow(folder: Path, source: str, seen: set[str]) -> None:
    """The files that a text imports, and those that they import."""
    for name in _IMPORT.findall(source):
        file = folder / f"{name}.py"
        if file.exists() and str(file) not in seen:
            seen.add(str(file))
            _follow(folder, file.read_text(), seen)


Checker.check = check  # type: ignore[method-assign]  # the point of this plugin

from shaped.mypy import __getattr__, plugin  # noqa: E402, F401 - what mypy asks a plugin for
