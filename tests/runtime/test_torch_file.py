"""What a file is, is told by what is in it; none of its code is run."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import save_file

from shaped.runtime.torch_file import LoadError, kind_of, read_plain, write_plain

if TYPE_CHECKING:
    from pathlib import Path


def test_kinds_are_told_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a"
    torch.save([1], path)
    assert kind_of(path) == "torch"
    torch.save([1], path, _use_new_zipfile_serialization=False)
    assert kind_of(path) == "legacy torch"
    save_file({"a": torch.ones(2)}, path)
    assert kind_of(path) == "safetensors"
    path.write_bytes(b"PK but no archive")
    assert kind_of(path) == ""
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{")  # longer than any header that safetensors reads
    assert kind_of(path) == ""


def test_plain_data_is_written_and_read_again(tmp_path: Path) -> None:
    write_plain(tmp_path / "a", {"a": torch.ones(2), "b": [1, None]})
    found = read_plain(tmp_path / "a")
    assert isinstance(found, dict)
    assert torch.equal(found["a"], torch.ones(2))
    assert found["b"] == [1, None]


def test_a_file_of_an_old_torch_is_read_only_where_that_is_wanted(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / "a", _use_new_zipfile_serialization=False)
    assert read_plain(tmp_path / "a", legacy=True) == [1, 2]
    with pytest.raises(LoadError, match=r"it is not a file that torch\.save wrote, or not all of it"):
        read_plain(tmp_path / "a")


def test_an_archive_within_one_that_was_cut_off_is_not_taken_for_it(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    torch.save([1, 2], inner)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(inner, "a/inner.pt")
        archive.writestr("a/data.pkl", b"more")
    outer.write_bytes(outer.read_bytes()[:-150])
    assert zipfile.is_zipfile(outer)
    assert kind_of(outer) == ""
    with pytest.raises(LoadError, match="or not all of it"):
        read_plain(outer)
