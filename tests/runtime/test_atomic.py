"""A file that is replaced is whole at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shaped.runtime.atomic import replacing, require_writable

if TYPE_CHECKING:
    from pathlib import Path


def test_the_old_contents_stay_until_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as new:
        new.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_the_old_contents_stay_after_an_exception_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def broken_off() -> None:
        with replacing(path) as new:
            new.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    with replacing(tmp_path / "runs" / "first" / "a.txt") as new:
        new.write_text("whole")
    assert (tmp_path / "runs" / "first" / "a.txt").read_text() == "whole"


def test_a_link_stays_a_link_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "latest.txt"
    path.write_text("old")
    link.symlink_to(path)
    with replacing(link) as new:
        new.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_new_file_has_the_permissions_that_open_gives_and_a_replaced_one_those_it_had(tmp_path: Path) -> None:
    opened, path = tmp_path / "opened.txt", tmp_path / "a.txt"
    opened.write_text("")
    with replacing(path):
        pass
    assert path.stat().st_mode == opened.stat().st_mode
    path.chmod(0o640)
    with replacing(path):
        pass
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_new_file_has_the_ending_of_the_old_one(tmp_path: Path) -> None:
    with replacing(tmp_path / "curve.png") as new:
        assert new.suffix == ".png"


def test_what_cannot_be_written_is_told_before_there_is_anything_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"checkpoint: .*a\.pt cannot be written"):
        require_writable(tmp_path / "file" / "a.pt", "checkpoint")
    with pytest.raises(IsADirectoryError, match="is a folder, not a file"):
        require_writable(tmp_path, "checkpoint")


def test_what_can_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    require_writable(path, "text")
    assert not [*path.parent.iterdir()]
    path.write_text("old")
    require_writable(path, "text")
    assert path.read_text() == "old"
    assert [one.name for one in path.parent.iterdir()] == ["a.txt"]
