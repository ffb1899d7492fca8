"""What a file's findings depend on, so that mypy checks it again when any of that has changed.

mypy's own cache knows the types that a file depends on; a shape in a string or a size in another file's function is no
type. So each checked file has a small record in mypy's cache folder: the files that its answer was read from. Their
digest, with that of the checker's own sources, is what mypy compares before it takes a file's errors from the cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Records:
    """The dependencies of checked files, kept in `folder`; with no folder, for this process only.

    Args:
        folder: where records are kept between runs.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._depends_on: dict[str, tuple[str, ...]] = {}
        self._digests: dict[str, tuple[tuple[int, int], str]] = {}

    def save(self, path: str, depends_on: Iterable[str]) -> None:
        """Note the files that the findings of the file at `path` were read from."""
        path = _local(path)
        files = tuple(sorted(set(map(_local, depends_on)) - {path}))
        if self.depends_on(path) == files:
            return
        self._depends_on[path] = files
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self._folder, suffix=".tmp", delete=False, encoding="utf-8"
            ) as file:
                json.dump({"path": path, "depends_on": files}, file)
            Path(file.name).replace(self._file(path))
        except OSError:  # a read-only or full cache folder: the next run checks the file again
            return

    def forget(self, path: str) -> None:
        """A file has no findings: it could not be checked."""
        path = _local(path)
        self._depends_on.pop(path, None)
        if self._folder is not None:
            self._file(path).unlink(missing_ok=True)

    def depends_on(self, path: str) -> tuple[str, ...] | None:
        """The files that the last findings of the file at `path` were read from, None if it was never checked."""
        path = _local(path)
        if path not in self._depends_on and self._folder is not None:
            try:
                record = json.loads(self._file(path).read_text(encoding="utf-8"))
                if record["path"] == path:
                    self._depends_on[path] = tuple(map(str, record["depends_on"]))
            except (OSError, ValueError, LookupError, TypeError):
                return None
        return self._depends_on.get(path)

    def digest(self, path: str) -> str | None:
        """A digest of all that the last findings of a file depend on, apart from its own text; None without any."""
        files = self.depends_on(path)
        if files is None:
            return None
        digest = hashlib.sha256(checker_digest().encode())
        for file in files:
            digest.update(f"\0{file}\0{self.text_digest(file)}".encode())
        return digest.hexdigest()

    def text_digest(self, path: str) -> str:
        """A digest of a file's text, empty if there is no such file."""
        path = _local(path)
        try:
            status = os.stat(path)  # noqa: PTH116 - called for every file of a project: twice as fast as Path.stat
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._digests.get(path)
            if known is None or known[0] != stamp:
                known = self._digests[path] = (stamp, hashlib.sha256(Path(path).read_bytes()).hexdigest())
        except OSError:
            return ""
        return known[1]

    def _file(self, path: str) -> Path:
        assert self._folder is not None
        return self._folder / (hashlib.sha256(path.encode()).hexdigest()[:32] + ".json")


@cache
def _local(path: str) -> str:
    """A path as seen from the working folder: mypy names the same file now absolutely, now relatively."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(Path(path).absolute())


@cache
def checker_digest() -> str:
    """A digest of the checker as this process loaded it: an edited rule makes every earlier answer stale."""
    return sources_digest()


def sources_digest() -> str:
    """A digest of the sources of this package as they are on disk now."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in (package, *(package / name for name in ("_mypy", "spec", "static"))):
        files = folder.glob("*.py") if folder in (package, package / "_mypy") else folder.rglob("*.py")
        for file in sorted(files):
            digest.update(f"\0{file.relative_to(package)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
