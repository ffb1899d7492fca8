"""What a file's findings depend on, so that mypy checks it again when any of that has changed.

mypy's own cache knows the types that a file depends on; a shape in a string or a size in another file's function is no
type. So each checked file has a small record in mypy's cache folder: the files that its answer was read from, and those
that only have to be there or not. Their digest, with that of the checker's own sources, is what mypy compares before it
takes a file's errors from the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shaped.static.snapshot import checker_digest, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_COARSEST_TIME = 2 * 10**9  # nanoseconds; that of files on FAT


class _Record(NamedTuple):
    """The files whose text counts, and those of which only that counts whether they are there."""

    depends_on: tuple[str, ...]
    packages: tuple[str, ...]


class Records:
    """The dependencies of checked files, kept in `folder`; with no folder, for this process only.

    Args:
        folder: where records are kept between runs.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._records: dict[str, _Record] = {}
        self._digests: dict[str, tuple[tuple[int, int], str]] = {}

    def save(self, path: str, depends_on: Iterable[str], packages: Iterable[str] = ()) -> None:
        """Note what the findings of the file at `path` depend on: texts of files, and whether others are there."""
        path = _local(path)
        files = set(map(_local, depends_on)) - {path}
        record = _Record(tuple(sorted(files)), tuple(sorted(set(map(_local, packages)) - files)))
        if self._record(path) == record:
            return
        self._records[path] = record
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._folder, suffix=".tmp", delete=False, encoding="utf-8"
            ) as file:
                json.dump({"path": path, **record._asdict()}, file)
            Path(file.name).replace(self._file(path))
        except OSError:  # a read-only or full cache folder: the next run checks the file again
            return

    def forget(self, path: str) -> None:
        """A file has no findings: it could not be checked."""
        path = _local(path)
        self._records.pop(path, None)
        if self._folder is not None:
            self._file(path).unlink(missing_ok=True)

    def digest(self, path: str) -> str | None:
        """A digest of all that the last findings of a file depend on, apart from its own text; None without any."""
        record = self._record(_local(path))
        if record is None:
            return None
        digest = hashlib.sha256(checker_digest().encode())
        for file in record.depends_on:
            digest.update(f"\0{file}\0{self.text_digest(file)}".encode())
        for file in record.packages:
            digest.update(f"\0{file}\0{Path(file).is_file()}".encode())
        return digest.hexdigest()

    def text_digest(self, path: str) -> str:
        """A digest of a file's text, empty if there is no such file."""
        path = _local(path)
        try:
            status = os.stat(path)  # noqa: PTH116 - called for every file of a project: twice as fast as Path.stat
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._digests.get(path)
            if known is None or known[0] != stamp or _is_fresh(status.st_mtime_ns):
                known = self._digests[path] = (stamp, digest_of(Path(path).read_bytes()))
        except OSError:
            return ""
        return known[1]

    def _record(self, path: str) -> _Record | None:
        """What the last findings of a file depend on, None if it was never checked."""
        if path not in self._records and self._folder is not None:
            try:
                kept = json.loads(self._file(path).read_text(encoding="utf-8"))
                if kept["path"] == path:
                    files, packages = (tuple(map(str, kept[key])) for key in _Record._fields)
                    self._records[path] = _Record(files, packages)
            except (OSError, ValueError, LookupError, TypeError):
                return None
        return self._records.get(path)

    def _file(self, path: str) -> Path:
        assert self._folder is not None
        return self._folder / (hashlib.sha256(path.encode()).hexdigest()[:32] + ".json")


def _is_fresh(modified: int) -> bool:
    """Whether a file was modified so lately that a later change may have the same time."""
    return time.time_ns() - modified < _COARSEST_TIME


@cache
def _local(path: str) -> str:
    """A path as seen from the working folder: mypy names the same file now absolutely, now relatively."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(Path(path).absolute())
