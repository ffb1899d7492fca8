"""Reports are kept between runs, and are never stale: whatever an answer depends on, a change of it is seen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shaped.static import cache as caches
from shaped.static.cache import Cache
from shaped.static.check import Checker
from shaped.static.project import Project, Task
from shaped.static.snapshot import Snapshot

CODES = frozenset({"shape", "shape-squeeze"})
NET = """\
import torch
from lib import width

y = torch.zeros(2, 3) @ torch.zeros(width(), 7)
"""
LIB = "def width() -> int:\n    return {}\n"


class Runs:
    """Runs over the files of the working folder, each with what it found and which files it checked anew."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checked: list[str] = []
        check = Checker.check

        def noted(checker: Checker, path: Path, *arguments: object) -> object:
            self.checked.append(path.name)
            return check(checker, path, *arguments)  # type: ignore[arg-type]  # whatever the caller gave

        monkeypatch.setattr(Checker, "check", noted)

    def __call__(self, *names: str, folder: Path | None = None, codes: frozenset[str] = CODES) -> list[str]:
        """What is found in files, a line each."""
        self.checked.clear()
        reports = Project(cache_folder=folder).check([Task(Path(name), codes) for name in names or ["net.py"]])
        return [
            f"{one.path}:{one.span.line} {one.message}" for checked in reports for one in checked.report.diagnostics
        ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs over a project whose `net.py` is wrong unless `lib.py` says 3."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").touch()
    Path("net.py").write_text(NET)
    Path("lib.py").write_text(LIB.format(5))
    return Runs(monkeypatch)


WRONG = ["net.py:4 matmul: (2, 3) @ (5, 7): inner dimensions 3 and 5 differ"]


def test_a_second_run_says_the_same_and_checks_nothing(run: Runs) -> None:
    assert run("net.py", "lib.py") == WRONG
    assert run.checked == ["net.py", "lib.py"]
    assert run("net.py", "lib.py") == WRONG
    assert run.checked == []


def test_all_that_is_printed_is_the_same_from_the_cache(run: Runs) -> None:
    Path("net.py").write_text(
        "from jaxtyping import Float\nfrom torch import Tensor, mystery\n\n"
        'def f(x: Float[Tensor, "é n"], h: int) -> Tensor:\n'
        "    y = mystery(x.view(x.shape[0], h, x.shape[1] // h))\n"
        "    é = x @ x\n"
        "    return x @ x  # type: ignore[shape]\n"
    )
    command = [sys.executable, "-m", "shaped", "check", "--assumptions", "--stats", "--cache-dir", "cache", "net.py"]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=False).stdout for _ in range(2))
    assert first == second
    assert "net.py:6:9: error: matmul: (é, n) @ (é, n)" in first
    assert "assumes n % h == 0" in first
    assert "torch.mystery" in first


def test_an_edit_of_the_file_is_seen_even_if_its_size_and_time_stay(run: Runs) -> None:
    run()
    status = Path("net.py").stat()
    Path("net.py").write_text(NET.replace("(2, 3)", "(2, 5)"))
    os.utime("net.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run() == []
    assert run.checked == ["net.py"]


def test_an_edit_of_a_dependency_is_seen_and_touching_it_is_no_edit(run: Runs) -> None:
    assert run() == WRONG
    status = Path("lib.py").stat()
    Path("lib.py").write_text(LIB.format(3))
    os.utime("lib.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run() == []
    Path("lib.py").touch()
    assert run() == []
    assert run.checked == []


def test_a_dependency_that_goes_or_comes_is_seen(run: Runs) -> None:
    assert run() == WRONG
    Path("lib.py").rename("other.py")
    assert run() == []
    Path("lib").mkdir()
    Path("lib/__init__.py").write_text(LIB.format(4))
    assert run() == ["net.py:4 matmul: (2, 3) @ (4, 7): inner dimensions 3 and 4 differ"]
    Path("other.py").rename("lib.py")
    assert run() == WRONG


def test_a_package_that_begins_further_up_is_seen(run: Runs) -> None:
    Path("pkg/inner").mkdir(parents=True)
    Path("pkg/inner/__init__.py").touch()
    Path("pkg/inner/net.py").write_text(NET)
    Path("pkg/inner/lib.py").unlink(missing_ok=True)
    assert run("pkg/inner/net.py") == []
    Path("pkg/lib.py").write_text(LIB.format(5))
    assert len(run("pkg/inner/net.py")) == 1
    Path("pkg/__init__.py").touch()
    Path("pkg/lib.py").rename("pkg/gone.py")
    assert len(run("pkg/inner/net.py")) == 1  # now the one beside pyproject.toml


def test_another_version_of_the_checker_or_of_python_finds_nothing(run: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    monkeypatch.setattr(caches, "checker_digest", lambda: "another")
    run()
    assert run.checked == ["net.py"]
    monkeypatch.setattr(sys, "version", "4.0")
    run()
    assert run.checked == ["net.py"]


def test_an_edited_rule_is_another_version(tmp_path: Path) -> None:
    package = Path(caches.__file__).parent.parent
    shutil.copytree(package, tmp_path / "shaped", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from shaped.static.snapshot import checker_digest; print(checker_digest())"

    def digest() -> str:
        command = [sys.executable, "-c", program]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    before = digest()
    assert digest() == before
    with (tmp_path / "shaped" / "spec" / "shape.py").open("a") as rule:
        rule.write("# edited\n")
    assert digest() != before


def test_other_codes_are_chosen_from_the_same_report(run: Runs) -> None:
    assert run() == WRONG
    assert run(codes=frozenset()) == []
    assert run() == WRONG
    assert run.checked == []


def test_equal_texts_at_two_places_have_each_its_own_report(run: Runs) -> None:
    Path("deep").mkdir()
    for name in ("net.py", "lib.py"):
        shutil.copy(name, "deep")
    shared = Path("cache")
    assert run(folder=shared) == WRONG
    assert run("deep/net.py", folder=shared) == ["deep/" + WRONG[0]]
    assert run(folder=shared) == WRONG
    assert run.checked == []


def test_paths_are_named_as_they_are_asked_for(run: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = str(Path("net.py").absolute())
    assert run() == WRONG
    assert run(absolute) == [WRONG[0].replace("net.py", absolute)]
    assert run.checked == []


def test_the_cache_is_beside_pyproject_and_says_what_it_is(run: Runs) -> None:
    Path("deep").mkdir()
    shutil.copy("lib.py", "deep")
    run("deep/lib.py")
    assert not Path("deep/.shaped_cache").exists()
    assert Path(".shaped_cache/.gitignore").read_text().endswith("*\n")
    assert Path(".shaped_cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_without_pyproject_reports_are_kept_among_the_users_caches(run: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("caches").absolute()))
    Path("pyproject.toml").unlink()
    run()
    assert list(Path("caches/shaped").glob("*.json"))
    assert not Path(".shaped_cache").exists()


def test_without_a_cache_nothing_is_written(run: Runs) -> None:
    list(Project(uses_cache=False).check([Task(Path("net.py"), CODES)]))
    assert not Path(".shaped_cache").exists()


@pytest.mark.parametrize("content", ["", "{", "null", "[]", "{}", '{"version": 1}', "\0\xff"])
def test_a_broken_entry_is_none(run: Runs, content: str) -> None:
    run()
    (entry,) = Path(".shaped_cache").glob("*.json")
    entry.write_text(content)
    assert run() == WRONG
    assert run.checked == ["net.py"]


@pytest.mark.parametrize("key", ["files", "report", "text", "path"])
def test_an_entry_with_a_part_of_another_kind_is_none(run: Runs, key: str) -> None:
    run()
    (entry,) = Path(".shaped_cache").glob("*.json")
    entry.write_text(json.dumps({**json.loads(entry.read_text()), key: 3}))
    assert run() == WRONG
    assert run.checked == ["net.py"]


def test_a_folder_that_cannot_be_written_is_no_fault(run: Runs) -> None:
    Path("file").touch()
    assert run(folder=Path("file/cache")) == WRONG
    assert run(folder=Path("file/cache")) == WRONG


def test_a_file_that_changes_while_it_is_read_leaves_no_report(run: Runs) -> None:
    snapshot = Snapshot()
    lib = Path("lib.py").absolute()
    snapshot.read(lib)
    Path("lib.py").write_text(LIB.format(3))
    snapshot.read(lib)
    assert not Snapshot().is_as(lib, snapshot.state(lib))


def test_a_fault_of_the_checker_is_not_kept(run: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(Checker, "check", fail)
        assert "was skipped" in run()[0]
    assert run() == WRONG


def test_old_entries_and_those_beyond_the_size_are_dropped(run: Runs) -> None:
    folder = Path("cache")
    run("net.py", "lib.py", folder=folder)
    entries = sorted(folder.glob("*.json"))
    month = time.time() - 40 * 24 * 60 * 60
    os.utime(entries[0], (month, month))
    (folder / "left.tmp").touch()
    os.utime(folder / "left.tmp", (month, month))
    run(folder=Path("other"))
    Cache(folder, Snapshot()).trim()
    assert sorted(folder.glob("*.*")) == sorted([folder / "CACHEDIR.TAG", folder / ".gitignore", entries[1]])
    Cache(folder, Snapshot()).trim(most_bytes=10)
    assert not list(folder.glob("*.json"))


def test_runs_at_the_same_time_share_a_folder(run: Runs) -> None:
    for number in range(20):
        Path(f"net{number}.py").write_text(NET)
    command = [sys.executable, "-m", "shaped", "check", "--cache-dir", "cache", "."]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [one.communicate()[0] for one in both]
    assert outputs[0] == outputs[1]
    assert "Found 21 errors in 21 files" in outputs[0]
    assert not list(Path("cache").glob("*.tmp"))
    assert len(list(Path("cache").glob("*.json"))) == 22
