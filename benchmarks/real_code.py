"""What `shaped check` says about packages that people use: python -m benchmarks.real_code PACKAGE_FOLDER...

The packages are no dependencies and are never imported: `pip download --no-deps NAME`, then unpack the wheel.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import table
from shaped.static.check import Checker
from shaped.static.report import Diagnostic

HEADER = ["package", "files", "lines", "shape known", "rank known", "unknown", "seconds", "slowest", "reports"]


@dataclass
class Sweep:
    """The figures of one package."""

    files: int = 0
    lines: int = 0
    shape_known: int = 0
    rank_known: int = 0
    unknown: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: list[Diagnostic] = field(default_factory=list)

    def row(self, name: str) -> list[str]:
        """The figures as a row of the table."""
        counts = [self.files, self.lines, self.shape_known, self.rank_known, self.unknown]
        return [name, *map(str, counts), f"{self.seconds:.0f}", f"{self.slowest:.1f}", str(len(self.findings))]


def sweep(files: Sequence[Path]) -> Sweep:
    """Check every file alone, as an editor does; findings are printed as they come."""
    found = Sweep()
    for path in files:
        start = time.process_time()
        report = Checker().check(path)
        spent = time.process_time() - start
        statistics = report.statistics
        found.files += 1
        found.lines += len(path.read_text(encoding="utf-8", errors="replace").splitlines())
        found.shape_known += statistics.shape_known
        found.rank_known += statistics.rank_known
        found.unknown += statistics.unknown
        found.seconds += spent
        found.slowest = max(found.slowest, spent)
        for diagnostic in report.diagnostics:
            if diagnostic.severity == "error" or diagnostic.code == "internal":
                found.findings.append(diagnostic)
                print(f"{path}:{diagnostic.span.line}: {diagnostic.message}", file=sys.stderr, flush=True)
    return found


def python_files(path: Path) -> list[Path]:
    """A file, or the files of a folder."""
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def main() -> None:
    """Print a table, and each finding to stderr."""
    gc.set_threshold(200_000, 20, 100)  # as `shaped check` does
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", type=Path, help="folders of unpacked sources, or files")
    options = parser.parse_args()
    rows = [sweep(python_files(path)).row(path.name) for path in options.packages]
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()
