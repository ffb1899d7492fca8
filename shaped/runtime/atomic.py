"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def require_writable(path: str | os.PathLike[str], what: str) -> None:
    """Have `replacing(path)` fail now, if it will: hours of work may lie before it. Missing folders are made.

    Args:
        what: what `path` is, for the error.

    Raises:
        OSError: there can be no file.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder, not a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise type(error)(f"{what}: {os.fspath(path)} cannot be written: {error}") from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside `path` to write to, which takes the place of `path` when the block ends without an exception.

    Whoever reads `path` finds the old contents or the new ones, never a part; a process that is killed while it writes
    leaves the old ones. Missing folders are made.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as new:
    ...         _ = new.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    # A link stays a link: it is what it points to that is replaced.
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix is kept: writers choose the format by it.
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
    os.close(descriptor)
    new = Path(name)
    try:
        yield new
        # mkstemp lets nobody else read the file, which is not what `open` does.
        new.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        _flush(new)
        new.replace(target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's mask of permissions, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _flush(path: Path) -> None:
    """Have the contents on the disk before the name points to them, or a power cut leaves an empty file."""
    # Windows flushes only what is open for writing.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
