"""Kernels are compiled once, kept, and never a reason for a program to fail."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from shaped.runtime import c_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler on this machine")
TWICE = "int twice(int n) { return 2 * n; }\n"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which this test's libraries are kept; a cleared memory stands for a new process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("CC", "SHAPED_KERNELS", "SHAPED_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    c_kernel._load.cache_clear()
    yield tmp_path / "cache" / "shaped" / "kernels"
    c_kernel._load.cache_clear()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for each time that something is compiled."""
    return compiler_script(tmp_path, monkeypatch, f'echo "$@" >> {tmp_path}/runs\nexec {COMPILER} "$@"')


def compiler_script(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Make `CC` a shell script that knows its version and else does `body`."""
    script = folder / "compiler"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo 1.0; exit 0; }}\n{body}\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    return folder / "runs"


def in_a_new_process(program: str) -> subprocess.Popen[str]:
    """A Python process that runs `program`."""
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


LOAD_TWICE = f"from shaped.runtime import c_kernel; print(c_kernel.load({TWICE!r}).twice(21))"


@needs_compiler
def test_a_source_becomes_functions() -> None:
    library = c_kernel.load(TWICE)
    assert library is not None
    assert library.twice(21) == 42


@needs_compiler
def test_a_later_process_compiles_nothing(runs: Path) -> None:
    for _ in range(2):
        c_kernel._load.cache_clear()
        assert c_kernel.load(TWICE) is not None
    assert len(runs.read_text().splitlines()) == 1
    assert c_kernel.load(TWICE.replace("2 *", "3 *")) is not None
    assert len(runs.read_text().splitlines()) == 2


@needs_compiler
@pytest.mark.parametrize("part", [0.0, 0.5, 0.999])
def test_a_kept_library_that_was_cut_off_is_compiled_again(part: float, kept: Path, runs: Path) -> None:
    # Made by another process: to cut off a file that this one has open would end it.
    assert in_a_new_process(LOAD_TWICE).communicate()[0] == "42\n"
    (file,) = kept.iterdir()
    content = file.read_bytes()
    file.write_bytes(content[: int(part * len(content))])
    library = c_kernel.load(TWICE)
    assert library is not None
    assert library.twice(21) == 42
    assert len(runs.read_text().splitlines()) == 2
    assert [file.read_bytes() for file in kept.iterdir()] == [content]


@needs_compiler
def test_a_kept_library_with_other_content_is_not_opened(kept: Path, tmp_path: Path, runs: Path) -> None:
    assert in_a_new_process(LOAD_TWICE).communicate()[0] == "42\n"
    (file,) = kept.iterdir()
    other = tmp_path / "other.so"
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-x", "c", "-", "-o", other],
        input=b"int twice(int n){return 7;}",
        check=True,
    )
    other.replace(file)
    library = c_kernel.load(TWICE)
    assert library is not None
    assert library.twice(21) == 42


@needs_compiler
def test_processes_that_compile_at_the_same_time_all_get_it(kept: Path) -> None:
    started = [in_a_new_process(LOAD_TWICE) for _ in range(3)]
    assert [process.communicate()[0] for process in started] == ["42\n"] * 3
    assert all(file.suffix == ".so" for file in kept.iterdir())


@needs_compiler
def test_another_processor_gets_its_own_library(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert c_kernel.load(TWICE) is not None
    c_kernel._load.cache_clear()
    monkeypatch.setattr(c_kernel, "_processor", lambda: "another")
    assert c_kernel.load(TWICE) is not None
    assert len(runs.read_text().splitlines()) == 2


@needs_compiler
def test_a_product_and_a_sum_are_two_roundings() -> None:
    library = c_kernel.load("int is_zero(double a, double b, double c) { return a * b + c == 0; }")
    assert library is not None
    c_double = c_kernel.ctypes.c_double
    a = 1 + 2.0**-30
    # The square is 1 + 2^-29 + 2^-60, and the last term is rounded off.
    assert library.is_zero(c_double(a), c_double(a), c_double(-(1 + 2.0**-29)))


@needs_compiler
def test_a_compiler_that_knows_no_march_native_still_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = 'case "$*" in *=native*) echo unknown >&2; exit 1;; esac'
    compiler_script(tmp_path, monkeypatch, f'{refuse}\nexec {COMPILER} "$@"')
    assert c_kernel.load(TWICE) is not None


@needs_compiler
def test_the_folder_is_private(kept: Path) -> None:
    assert c_kernel.load(TWICE) is not None
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


@needs_compiler
def test_a_folder_that_others_can_write_to_is_not_used(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    assert c_kernel.load(TWICE) is not None
    assert not list(kept.iterdir())
    assert len(list((tmp_path / "home").rglob("*.so"))) == 1


@needs_compiler
def test_without_a_home_the_system_s_temporary_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr(c_kernel.tempfile, "tempdir", str(tmp_path))
    assert c_kernel.load(TWICE) is not None
    assert len(list((tmp_path / f"shaped-kernels-{os.getuid()}").iterdir())) == 1


def test_kernels_can_be_switched_off(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAPED_KERNELS", "0")
    assert c_kernel.load(TWICE) is None
    assert not kept.exists()


@pytest.mark.parametrize("command", ["/no/such/compiler", "'", "false"])
def test_a_compiler_that_cannot_run_gives_no_kernel(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", command)
    assert c_kernel.load(TWICE) is None
    assert capfd.readouterr() == ("", "")


def test_no_compiler_gives_no_kernel_and_the_reason_to_those_who_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_kernel.load(TWICE) is None
    assert capfd.readouterr() == ("", "")
    c_kernel._load.cache_clear()
    monkeypatch.setenv("SHAPED_TRACEBACK", "1")
    assert c_kernel.load(TWICE) is None
    assert "no C compiler: set CC, or install cc, gcc or clang" in capfd.readouterr().err


@needs_compiler
def test_a_source_that_does_not_compile_gives_no_kernel_and_the_compiler_s_words_to_those_who_ask(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHAPED_TRACEBACK", "1")
    assert c_kernel.load("int f(int n) { return undeclared; }") is None
    assert "undeclared" in capfd.readouterr().err
    assert not list(kept.iterdir())


def test_a_compiler_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_kernel, "_COMPILER_SECONDS", 0.2)
    compiler_script(tmp_path, monkeypatch, "sleep 5; echo late")
    start = time.perf_counter()
    assert c_kernel.load(TWICE) is None
    assert time.perf_counter() - start < 4


@needs_compiler
def test_the_libraries_that_were_not_used_for_longest_give_way(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_kernel, "_MOST_KEPT", 2)

    def compiled(number: int) -> set[Path]:
        before = set(kept.glob("*.so"))
        library = c_kernel.load(f"int number(void) {{ return {number}; }}\n")
        assert library is not None
        assert library.number() == number
        return set(kept.glob("*.so")) - before

    (first,), (second,) = compiled(1), compiled(2)
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    c_kernel._load.cache_clear()
    assert compiled(1) == set(), "it is used again, so the other is the older one now"
    (third,) = compiled(3)
    assert set(kept.glob("*.so")) == {first, third}
