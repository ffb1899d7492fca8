"""IDX files are read as they are, or refused by name."""

from __future__ import annotations

import gzip
import pickle
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaped.runtime.data import DataError, read_idx, write_idx
from shaped.runtime.data.idx import DTYPES

LABELS = bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4])  # the magic number 2049, 3 labels; MNIST's own begin with 5, 0, 4


def written(folder: Path, contents: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(contents)
    return path


def test_labels_are_read_byte_by_byte(tmp_path: Path) -> None:
    read = read_idx(written(tmp_path, LABELS), magic=2049)
    assert read.dtype == torch.uint8
    assert read.tolist() == [5, 0, 4]


def test_the_last_dim_runs_fastest(tmp_path: Path) -> None:
    contents = struct.pack(">IIII", 2051, 1, 2, 3) + bytes(range(6))
    assert read_idx(written(tmp_path, contents), magic=2051).tolist() == [[[0, 1, 2], [3, 4, 5]]]


@pytest.mark.parametrize(
    "code, layout, numbers",
    [
        (0x08, "B", [0, 255]),
        (0x09, "b", [-128, 127]),
        (0x0B, "h", [-2, 258]),
        (0x0C, "i", [-(2**31), 16909060]),
        (0x0D, "f", [1.5, -0.15625]),
        (0x0E, "d", [0.1, -1e300]),
    ],
)
def test_every_type_of_the_format_is_big_endian(tmp_path: Path, code: int, layout: str, numbers: list[float]) -> None:
    path = written(tmp_path, bytes([0, 0, code, 1]) + struct.pack(f">I2{layout}", 2, *numbers))
    read = read_idx(path)
    assert read.dtype == DTYPES[code]
    assert read.tolist() == numbers


def test_gzip_is_told_by_the_contents_not_by_the_name(tmp_path: Path) -> None:
    assert read_idx(written(tmp_path, gzip.compress(LABELS))).tolist() == [5, 0, 4]
    (tmp_path / "plain.gz").write_bytes(LABELS)
    assert read_idx(tmp_path / "plain.gz").tolist() == [5, 0, 4]


def test_what_is_read_can_be_written_to(tmp_path: Path) -> None:
    read = read_idx(written(tmp_path, LABELS))
    read += 1
    assert read.tolist() == [6, 1, 5]
    assert read_idx(tmp_path / "file").tolist() == [5, 0, 4]


@pytest.mark.parametrize("dims", [(0,), (0, 28, 28), (3, 0)])
def test_a_file_without_numbers_has_its_shape(tmp_path: Path, dims: tuple[int, ...]) -> None:
    contents = bytes([0, 0, 8, len(dims)]) + struct.pack(f">{len(dims)}I", *dims)
    assert read_idx(written(tmp_path, contents)).shape == dims


@pytest.mark.parametrize(
    "contents, reason",
    [
        (b"", "it is too short: an IDX file begins with 4 bytes for its magic number, not 0"),
        (LABELS[:3], "it is too short: an IDX file begins with 4 bytes for its magic number, not 3"),
        (LABELS[:6], "it is too short: 1 dims are 4 bytes, but 2 are there"),
        (LABELS[:-1], "it is too short: its header says uint8 (3,), 3 bytes of numbers, but 2 are there"),
        (LABELS + b"\0", "it is too long: its header says uint8 (3,), 3 bytes of numbers, but more follow"),
        (b"\x89PNG", "it is no IDX file: its magic number is 2303741511 (0x89504e47)"),
        (bytes([0, 0, 7, 1]) + LABELS[4:], "it is no IDX file: its magic number is 1793 (0x00000701)"),
        (bytes([1, 0, 8, 1]) + LABELS[4:], "it is no IDX file: its magic number is 16779265 (0x01000801)"),
        (bytes([0, 0, 8, 0]) + LABELS[4:], "it is no IDX file: its magic number is 2048 (0x00000800)"),
        (bytes([0, 0, 14, 3]) + b"\xff" * 12, "it is too short: its header says float64 (4294967295, "),
    ],
)
@pytest.mark.parametrize("is_gzip", [False, True], ids=["plain", "gzip"])
def test_a_file_that_is_not_whole_is_refused_with_the_reason(
    tmp_path: Path, contents: bytes, reason: str, is_gzip: bool
) -> None:
    path = written(tmp_path, gzip.compress(contents) if is_gzip else contents)
    with pytest.raises(DataError) as refused:
        read_idx(path)
    assert refused.value.path == path
    assert refused.value.reason.startswith(reason)
    assert str(refused.value) == f"{path}: {refused.value.reason}"


def test_a_magic_number_that_is_not_the_wanted_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"its magic number is 2049 \(labels\), not 2051 \(images\)"):
        read_idx(written(tmp_path, LABELS), magic=2051)


@pytest.mark.parametrize("count", [2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_a_large_file_is_read_in_pieces_to_its_end(tmp_path: Path, count: int) -> None:
    contents = bytes([0, 0, 8, 1]) + struct.pack(">I", count) + bytes(count)
    assert read_idx(written(tmp_path, contents)).shape == (count,)
    for wrong in (contents + b"\0", contents[:-1]):
        with pytest.raises(DataError, match=r"it is too (long|short)"):
            read_idx(written(tmp_path, wrong))


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(gzip.compress(LABELS)[:-3], id="cut off in the checksum"),
        pytest.param(gzip.compress(LABELS)[:14], id="cut off in the numbers"),
        pytest.param(gzip.compress(LABELS)[:-8] + b"\0" * 8, id="another checksum"),
        pytest.param(b"\x1f\x8b\x08\x00" + b"\xff" * 40, id="nonsense"),
    ],
)
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damaged: bytes) -> None:
    with pytest.raises(DataError, match="it begins as a gzip file, but is cut off or damaged"):
        read_idx(written(tmp_path, damaged))


def test_a_file_that_is_not_there_is_said_by_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_idx(tmp_path / "nothing")


def test_the_error_reaches_the_user_from_a_process_of_a_loader() -> None:
    error = DataError("folder/file", "it is too short")
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), copied.path, copied.reason, str(copied)) == (DataError, error.path, error.reason, str(error))


@given(st.data(), st.sampled_from(list(DTYPES.values())), st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, dtype: torch.dtype, shape: list[int]
) -> None:
    suffix = data.draw(st.sampled_from(["", ".gz"]))
    path = tmp_path_factory.getbasetemp() / f"idx{suffix}"
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 2**32)))
    tensor = (300 * torch.randn(*shape, generator=generator, dtype=torch.float64)).round().to(torch.int64).to(dtype)
    if data.draw(st.booleans()):
        tensor = tensor.transpose(0, -1)  # not contiguous
    write_idx(path, tensor)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == (suffix == ".gz")
    read = read_idx(path)
    assert read.dtype == dtype
    assert torch.equal(read, tensor)


def test_labels_are_written_byte_by_byte(tmp_path: Path) -> None:
    write_idx(tmp_path / "file", torch.tensor([5, 0, 4], dtype=torch.uint8))
    assert (tmp_path / "file").read_bytes() == LABELS


def test_equal_tensors_are_equal_files(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_idx(tmp_path / name, torch.arange(9, dtype=torch.int16))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert (tmp_path / "a.gz").read_bytes()[4:8] == bytes(4)  # the time of writing


@pytest.mark.parametrize(
    "tensor, message",
    [
        (torch.tensor([1]), "the tensor is int64, and an IDX file holds uint8, int8, int16, int32, float32, float64"),
        (torch.tensor(1, dtype=torch.uint8), r"the tensor is \(\): 1 to 255 dims"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_and_no_file_is_written(
    tmp_path: Path, tensor: torch.Tensor, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_idx(tmp_path / "file", tensor)
    assert not list(tmp_path.iterdir())
