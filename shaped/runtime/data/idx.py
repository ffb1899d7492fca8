"""IDX files, in which MNIST and its kin are kept: read, checked, written.

The format (Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits"): two zero bytes, a byte for the
type of the numbers, a byte for the number of dims; each dim as an unsigned 32-bit number; then the numbers, the last
dim running fastest. All is big-endian.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import torch
from jaxtyping import Shaped
from torch import Tensor

from shaped.runtime.arguments import require_tensor
from shaped.runtime.atomic import replacing
from shaped.runtime.tensor_types import dtype_name

DTYPES = {
    0x08: torch.uint8,
    0x09: torch.int8,
    0x0B: torch.int16,
    0x0C: torch.int32,
    0x0D: torch.float32,
    0x0E: torch.float64,
}
_GZIP = b"\x1f\x8b"
_PIECE = 2**20  # bytes read at once: a header may promise more than there is


class DataError(ValueError):
    """Data that are not what they should be.

    Args:
        path: the file, or the folder in which it was looked for.
        reason: what is wrong with it.
    """

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{os.fspath(path)}: {reason}")

    def __reduce__(self) -> tuple[type[DataError], tuple[Path, str]]:
        # An exception of a loader's worker process is pickled on its way to the user.
        return type(self), (self.path, self.reason)


def read_idx(path: str | os.PathLike[str], *, magic: int | None = None) -> Shaped[Tensor, "..."]:
    """Read an IDX file as a tensor of its own shape and dtype, on the CPU. A file in gzip is told by its contents.

    Args:
        magic: the file's first four bytes as a number, where one is wanted: 2051 of MNIST's images (uint8, 3 dims),
            2049 of its labels (uint8, 1 dim).

    Raises:
        DataError: the file is no IDX file, or is shorter or longer than its header says; nothing of it is given.
        FileNotFoundError: there is no such file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_idx(Path(folder) / "labels.gz", torch.tensor([3, 1, 4], dtype=torch.uint8))
    ...     read_idx(Path(folder) / "labels.gz", magic=2049)
    tensor([3, 1, 4], dtype=torch.uint8)
    """
    with Path(path).open("rb") as file:  # whose own errors (no such file, no permission) say enough
        is_gzip = file.read(2) == _GZIP
        file.seek(0)
        try:
            return _read(cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_gzip else file, path, magic)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(path, f"it begins as a gzip file, but is cut off or damaged: {error}") from error


def write_idx(path: str | os.PathLike[str], tensor: Tensor) -> None:
    """Write a tensor as an IDX file, whole or not at all; in gzip if the name ends in `.gz`.

    Args:
        tensor: uint8, int8, int16, int32, float32 or float64, of 1 to 255 dims.

    Raises:
        ValueError: the format has no such dtype or shape.
        TypeError: it is no tensor.
    """
    codes = {dtype: code for code, dtype in DTYPES.items()}
    require_tensor("write_idx: tensor", tensor)
    if tensor.dtype not in codes:
        able = ", ".join(dtype_name(dtype) for dtype in codes)
        raise ValueError(f"write_idx: the tensor is {dtype_name(tensor.dtype)}, and an IDX file holds {able}")
    if not 1 <= tensor.dim() <= 255 or max(tensor.shape) >= 2**32:
        raise ValueError(f"write_idx: the tensor is {tuple(tensor.shape)}: 1 to 255 dims below 2^32 are wanted")
    values = tensor.detach().cpu()
    header = struct.pack(f">HBB{tensor.dim()}I", 0, codes[tensor.dtype], tensor.dim(), *tensor.shape)
    contents = bytearray(header) + bytearray(values.numel() * values.element_size())
    if values.numel():
        numbers = _other_end(values).flatten().view(torch.uint8)
        torch.frombuffer(contents, dtype=torch.uint8, offset=len(header)).copy_(numbers)
    with replacing(path) as new:
        # Without a time, equal tensors are equal files.
        new.write_bytes(gzip.compress(contents, mtime=0) if Path(path).suffix == ".gz" else contents)


class _Header(NamedTuple):
    dtype: torch.dtype
    shape: tuple[int, ...]


def _read(file: BinaryIO, path: str | os.PathLike[str], magic: int | None) -> Tensor:
    header = _read_header(file, path, magic)
    wanted = math.prod(header.shape) * header.dtype.itemsize
    contents = bytearray()
    while len(contents) <= wanted:  # one byte more tells a file that is too long, and has gzip compare its checksum
        piece = file.read(min(_PIECE, wanted + 1 - len(contents)))
        if not piece:
            break
        contents += piece
    if len(contents) != wanted:
        is_long = len(contents) > wanted
        found = "more follow" if is_long else f"{len(contents)} are there"
        raise DataError(
            path,
            f"it is too {'long' if is_long else 'short'}: its header says {_kind(header)}, "
            f"{wanted} bytes of numbers, but {found}",
        )
    if not wanted:
        return torch.empty(header.shape, dtype=header.dtype)
    return _other_end(torch.frombuffer(contents, dtype=header.dtype)).reshape(header.shape)


def _read_header(file: BinaryIO, path: str | os.PathLike[str], magic: int | None) -> _Header:
    first = file.read(4)
    if len(first) < 4:
        raise DataError(
            path, f"it is too short: an IDX file begins with 4 bytes for its magic number, not {len(first)}"
        )
    zeros, code, dims = struct.unpack(">HBB", first)
    found = int.from_bytes(first, "big")
    if magic is not None and found != magic:
        raise DataError(path, f"its magic number is {_known(found)}, not {_known(magic)}")
    if zeros != 0 or code not in DTYPES or dims == 0:
        raise DataError(
            path,
            f"it is no IDX file: its magic number is {_known(found)}, where 2 zero bytes, a type "
            f"({', '.join(f'{known:#04x}' for known in DTYPES)}) and 1 or more dims are wanted",
        )
    sizes = file.read(4 * dims)
    if len(sizes) < 4 * dims:
        raise DataError(path, f"it is too short: {dims} dims are {4 * dims} bytes, but {len(sizes)} are there")
    return _Header(DTYPES[code], struct.unpack(f">{dims}I", sizes))


def _known(magic: int) -> str:
    """A magic number, and what it is that of."""
    names = {2051: "2051 (images)", 2049: "2049 (labels)"}
    return names.get(magic, f"{magic} ({magic:#010x})")


def _kind(header: _Header) -> str:
    return f"{dtype_name(header.dtype)} {tuple(header.shape)}"


def _other_end(values: Tensor) -> Tensor:
    """Numbers of big-endian bytes as this machine's own, and the other way round."""
    size = values.element_size()
    if size == 1 or sys.byteorder == "big":
        return values
    return (
        values.flatten().view(torch.uint8).reshape(-1, size).flip(1).flatten().view(values.dtype).reshape(values.shape)
    )


def only_file(folder: Path, names: Sequence[str]) -> Path:
    """The first of some names that is a file in a folder.

    Raises:
        DataError: none is there; all names that were looked for are told.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    missing = "" if folder.is_dir() else " (there is no such folder)"
    raise DataError(folder, f"none of {', '.join(names)} is there{missing}")
