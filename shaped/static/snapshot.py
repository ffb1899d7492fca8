"""The files of a project as one run sees them, and their digests, by which a later run knows whether they changed."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Final

ABSENT: Final = ""
PRESENT: Final = "present"
_UNSTEADY = "changed while it was read"  # equal to no digest: nothing that was read from it is kept
_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PACKAGE = Path(__file__).parent.parent
_FOLDERS_OF_THE_CHECKER = ("_mypy", "spec", "static")


class Snapshot:
    """The files that a run looks at: whether one is there is asked once, so all of the run has one answer."""

    def __init__(self) -> None:
        self._is_file: dict[Path, bool] = {}
        self._digests: dict[Path, str] = {}

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        known = self._is_file.get(path)
        if known is None:
            known = self._is_file[path] = path.is_file()
        return known

    def read(self, path: Path) -> str:
        """The text of a Python file, in the encoding that it declares.

        Raises:
            OSError: the file cannot be read.
            UnicodeDecodeError: it is not text in that encoding.
        """
        try:
            data = path.read_bytes()
        except OSError:
            self._digests[path] = _UNSTEADY
            raise
        digest = digest_of(data)
        if self._digests.setdefault(path, digest) != digest:
            self._digests[path] = _UNSTEADY
        return decoded(data)

    def digest(self, path: Path) -> str:
        """A digest of a file's text; `ABSENT` if there is no such file, or it cannot be read."""
        known = self._digests.get(path)
        if known is None:
            try:
                known = digest_of(path.read_bytes()) if self.is_file(path) else ABSENT
            except OSError:
                known = ABSENT
            self._digests[path] = known
        return known

    def state(self, path: Path) -> str:
        """What a check saw of a file: the digest of what it read, or else whether it is there."""
        return self._digests.get(path) or (PRESENT if self.is_file(path) else ABSENT)

    def is_as(self, path: Path, state: str) -> bool:
        """Whether a file is as an earlier run saw it."""
        if state in (ABSENT, PRESENT):
            return self.is_file(path) == (state == PRESENT)
        return self.digest(path) == state


def digest_of(data: bytes) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(data).hexdigest()


def decoded(data: bytes) -> str:
    """The text of a Python file, in the encoding that it declares.

    Raises:
        UnicodeDecodeError: it is not text in that encoding.
    """
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


@cache
def checker_digest() -> str:
    """A digest of the checker as this process loaded it: an edited rule makes every earlier answer stale."""
    return sources_digest()


def sources_digest() -> str:
    """A digest of the sources of this package as they are on disk now."""
    digest = hashlib.sha256()
    files = [*_PACKAGE.glob("*.py")]
    for folder in _FOLDERS_OF_THE_CHECKER:
        files += (_PACKAGE / folder).rglob("*.py")
    for file in sorted(files):
        digest.update(f"\0{file.relative_to(_PACKAGE)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
