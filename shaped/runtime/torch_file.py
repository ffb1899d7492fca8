"""Files that `torch.save` writes, read without running any of their code, and what else a file may be."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import torch

from shaped.runtime.atomic import replacing

NOT_OF_TORCH = "it is not a file that torch.save wrote, or not all of it"
# How a file of torch before 1.6 begins: a pickle of protocol 2 that is this number.
_LEGACY_START = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_LFS_START = b"version https://git-lfs"
_SAFETENSORS_HEADER = 8  # the length of the header, which is JSON


class LoadError(ValueError):
    """A file that is not what it should be, or not of what it is loaded into.

    Args:
        path: the file.
        problems: every difference between the file and what it is loaded into.
    """

    def __init__(self, path: str | os.PathLike[str], problems: Sequence[str]) -> None:
        self.path = Path(path)
        self.problems = tuple(problems)
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"{os.fspath(path)} cannot be loaded, and nothing was changed:{lines}")


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file is by what is in it, whatever its name: `torch`, `legacy torch`, `safetensors`, `exported`, `script`,
    `git lfs` for a pointer to a file, or nothing for anything else.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    with Path(path).open("rb") as file:
        start = file.read(len(_LFS_START))
        if start.startswith(b"PK"):
            return _kind_of_archive(file)
        if start == _LFS_START:
            return "git lfs"
        if start.startswith(_LEGACY_START):
            return "legacy torch"
        header = int.from_bytes(start[:_SAFETENSORS_HEADER], "little")
        is_header = start[_SAFETENSORS_HEADER:].lstrip().startswith(b"{")
        return "safetensors" if is_header and header < 100_000_000 else ""  # no longer header is read by safetensors


def _kind_of_archive(file: BinaryIO) -> str:
    """What a zip archive is, by the names of its records, which all stand in one folder."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = {name.partition("/")[2] for name in archive.namelist()}
            if not _is_whole(archive):
                return ""
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return ""
    if "archive_format" in names or "serialized_exported_program.json" in archive.namelist():
        return "exported"
    if "constants.pkl" in names:
        return "script"
    return "torch" if "data.pkl" in names else ""


def _is_whole(archive: zipfile.ZipFile) -> bool:
    """Whether an archive is the whole file. Of one that was cut off, zipfile finds the last one that lay within it."""
    return min((record.header_offset for record in archive.infolist()), default=0) == 0


def damage(file: BinaryIO) -> str:
    """What is wrong with a zip archive, as torch writes it; empty for nothing. torch itself takes wrong bits for
    numbers."""
    try:
        with zipfile.ZipFile(file) as archive:
            if not _is_whole(archive):
                return NOT_OF_TORCH
            damaged = archive.testzip()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return NOT_OF_TORCH
    return f"it is damaged: the checksum of {damaged} is wrong" if damaged else ""


def read_plain(path: str | os.PathLike[str], refused: type[LoadError] = LoadError, *, legacy: bool = False) -> object:
    """The contents of a file that `torch.save` wrote, on the CPU.

    Args:
        refused: the error to raise.
        legacy: whether files of torch before 1.6, which have no checksums, are read too.

    Raises:
        LoadError: it is another file, it is damaged, or it holds more than plain data.
        OSError: there is no such file, or it cannot be read.
    """
    with Path(path).open("rb") as file:  # whose own errors (no such file, no permission) say enough
        is_legacy = legacy and file.read(len(_LEGACY_START)) == _LEGACY_START
        if not is_legacy and (problem := damage(file)):
            raise refused(path, [problem])
        file.seek(0)
        try:
            return torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            problem = "it holds more than plain data (a whole model?), which is loaded only by running its code"
            raise refused(path, [problem]) from error
        except (RuntimeError, OSError, EOFError, LookupError, ValueError, AttributeError) as error:
            problem = f"it is not a file that torch.save wrote: {str(error) or type(error).__name__}"
            raise refused(path, [problem]) from error


def write_plain(path: str | os.PathLike[str], contents: object) -> None:
    """Write plain data as `torch.save` does, whole or not at all, with the checksums that `read_plain` looks at."""
    had_checksums = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(True)
    try:
        # An open file: torch makes a name of that of a path, and refuses one like `.name`.
        with replacing(path) as new, new.open("wb") as file:
            torch.save(contents, file)
    finally:
        torch.serialization.set_crc32_options(had_checksums)
