"""The checker's entry: one file or source text in, one `Report` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from shaped.static.report import Report


class Checker:
    """A check of files that may import each other; what was read of a module is kept for the next file.

    Args:
        roots: the folders in which absolute imports are looked up; by default each file's own project.
        show_traceback: raise the checker's own faults instead of noting them.
        read: reads a source file (an editor or mypy may hold newer text than the disk).
    """

    def __init__(
        self,
        roots: Sequence[Path] = (),
        *,
        show_traceback: bool = False,
        read: Callable[[Path], str] | None = None,
    ) -> None:
        self.roots = tuple(roots)
        self.show_traceback = show_traceback
        self.read = read

    def check(self, path: Path, source: str | None = None) -> Report:
        """Check one file. A syntax error is one diagnostic with the code `syntax`.

        Raises:
            OSError: the file cannot be read.
        """
        return Report(str(path))
