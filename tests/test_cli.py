"""The `shaped` command: what it prints and how it exits, over a checker that finds what a comment asks for."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shaped.cli import main
from shaped.codes import DEFAULT_CODES
from shaped.static import suppress
from shaped.static.check import Checker
from shaped.static.report import Assumption, Diagnostic, Note, Report, ShownShape, Span

if TYPE_CHECKING:
    from collections.abc import Callable

WANTED = re.compile(r"# BUG (\S+) (.*)$")


def stand_in(checker: Checker, path: Path, source: str | None = None, codes: frozenset[str] = DEFAULT_CODES) -> Report:
    """A check that reports each line with a comment `# BUG code message` from its first `=` to its end of code."""
    assert source is not None
    report = Report(str(path))
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if "KILL" in line:
            os.kill(os.getpid(), signal.SIGKILL)
        if "CRASH" in line:
            raise ZeroDivisionError("no such shape")
        wanted = WANTED.search(line)
        start, end = (len(part.encode()) for part in (line.partition("=")[0], line.partition("#")[0].rstrip()))
        span = Span(number, start, number, end)
        if wanted:
            notes = (Note(10, "128: out_features of self.fc1"),)
            found.append(Diagnostic(str(path), span, wanted[1], wanted[2], notes=notes, hint="nn.Linear(128, 10)?"))
        if "REVEAL" in line:
            found.append(Diagnostic(str(path), span, "shape", 'Revealed shape is "b 10"', severity="note"))
        if "zeros" in line:
            report.shapes.append(ShownShape(Span(number, 4, number, end), "torch.zeros(2, 3)", "2 3"))
            report.shapes.append(ShownShape(Span(number, 6, number, 8), "inner", "9 9"))
            report.statistics.shape_known += 1
        if "mystery" in line:
            report.statistics.unknown += 1
            report.statistics.without_rule["torch.mystery"] += 1
        if "%" in line:
            report.assumptions.append(Assumption(str(path), number, "d % h == 0"))
    report.diagnostics, report.silenced = suppress.split(source, suppress.chosen(found, codes))
    return report


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the working folder of a command whose checker is the stand-in."""
    monkeypatch.setattr(Checker, "check", stand_in)
    monkeypatch.setenv("SHAPED_CACHE_DIR", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command: its exit status, what it printed, what it said on the error stream."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
        return status, *capsys.readouterr()

    return run


Run = "Callable[..., tuple[int, str, str]]"


def test_a_finding_reads_like_a_compilers(project: Path, run: Run) -> None:
    Path("net.py").write_text("import torch\ny = x @ w  # BUG shape matmul: (b, 128) @ (64, 10): they differ\n")
    status, out, _ = run("check", "net.py")
    assert status == 1
    assert out.splitlines() == [
        "net.py:2:3: error: matmul: (b, 128) @ (64, 10): they differ  [shape]",
        "net.py:2: note: 128: out_features of self.fc1, line 10",
        "net.py:2: note: hint: nn.Linear(128, 10)?",
        "Found 1 error in 1 file (checked 1 file)",
    ]


def test_a_clean_file_exits_with_0(project: Path, run: Run) -> None:
    Path("net.py").write_text("x = 1\n")
    assert run("check", "net.py") == (0, "Success: no shape errors in 1 file\n", "")


def test_a_revealed_shape_is_a_note_and_no_finding(project: Path, run: Run) -> None:
    Path("net.py").write_text("x = reveal_shape(y)  # REVEAL\n")
    status, out, _ = run("check", "net.py")
    assert status == 0
    assert out.splitlines()[0] == 'net.py:1:3: note: Revealed shape is "b 10"'


def test_columns_count_letters_and_not_bytes(project: Path, run: Run) -> None:
    Path("net.py").write_text("größe = x @ w  # BUG shape wrong\n", encoding="utf-8")
    assert run("check", "net.py")[1].startswith("net.py:1:7: error")
    finding = json.loads(run("check", "--output", "json", "net.py")[1])
    assert (finding["column"], finding["end_column"]) == (7, 14)


def test_json_has_one_object_a_line_with_every_field(project: Path, run: Run) -> None:
    Path("net.py").write_text("y = x @ w  # BUG shape-squeeze first\ny = x @ w  # BUG dtype second\n")
    status, out, _ = run("check", "--output", "json", "net.py")
    first, second = map(json.loads, out.splitlines())
    assert status == 1
    assert first == {
        "file": "net.py",
        "line": 1,
        "column": 3,
        "end_line": 1,
        "end_column": 10,
        "severity": "error",
        "code": "shape-squeeze",
        "message": "first",
        "hint": "nn.Linear(128, 10)?",
        "notes": [{"file": "net.py", "line": 10, "message": "128: out_features of self.fc1"}],
    }
    assert second["code"] == "dtype"


def test_folders_are_searched_for_python_files_but_not_environments_and_caches(project: Path, run: Run) -> None:
    for folder in ("pkg/deep", ".hidden", "env", "pkg/__pycache__"):
        Path(folder).mkdir(parents=True)
        Path(folder, "bad.py").write_text("y = x  # BUG shape wrong\n")
    Path("env/pyvenv.cfg").touch()
    Path("pkg/notes.txt").write_text("y = x  # BUG shape wrong\n")
    _, out, _ = run("check", ".")
    assert out.splitlines()[0].startswith("pkg/deep/bad.py:1:3:")
    assert out.splitlines()[-1] == "Found 1 error in 1 file (checked 1 file)"


def test_a_file_named_twice_is_checked_once(project: Path, run: Run) -> None:
    Path("net.py").write_text("y = x  # BUG shape wrong\n")
    assert run("check", "net.py", "net.py", ".")[1].splitlines()[-1] == "Found 1 error in 1 file (checked 1 file)"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "nowhere.py"], "shaped check: no such file or folder: nowhere.py\n"),
        (["check", "empty"], "shaped check: no Python files in folder: empty\n"),
        (["show", "empty"], "shaped show: is a folder, not a file: empty\n"),
        (["check", "latin.py"], "shaped check: cannot read latin.py: not text in the encoding utf-8\n"),
    ],
)
def test_what_cannot_be_checked_is_named_and_exits_with_2(
    project: Path, run: Run, arguments: list[str], said: str
) -> None:
    Path("empty").mkdir()
    Path("latin.py").write_bytes(b"x = '\xe9'\n")
    assert run(*arguments) == (2, "", said)


@pytest.mark.parametrize("arguments", [[], ["check"], ["prove"], ["check", "--output", "xml", "."]])
def test_wrong_usage_exits_with_2(project: Path, run: Run, arguments: list[str]) -> None:
    status, out, error = run(*arguments)
    assert (status, out) == (2, "")
    assert "usage: shaped" in error


def test_a_file_may_declare_its_encoding(project: Path, run: Run) -> None:
    Path("latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n\xe9 = x  # BUG shape wrong\n")
    assert run("check", "latin.py")[1].startswith("latin.py:2:3: error")


def test_a_dash_stands_for_standard_input(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("y = x  # BUG shape wrong\n"))
    assert run("check", "-")[1].startswith("<stdin>:1:3: error: wrong")


@pytest.mark.parametrize(
    ("comment", "count"),
    [
        ("# type: ignore", 0),
        ("# type: ignore[shape]", 0),
        ("# type: ignore[shape-squeeze]", 0),
        ("# type: ignore[dtype, shape-squeeze]  # because", 0),
        ("# type: ignore[shape-axes]", 1),
        ("# type: ignore[arg-type]", 1),
        ("# type: ignored", 1),
        ("# no comment of that kind", 1),
    ],
)
def test_type_ignore_comments_silence_by_code_and_parent_code(
    project: Path, run: Run, comment: str, count: int
) -> None:
    Path("net.py").write_text(f"import os\ny = x  {comment} # BUG shape-squeeze wrong\n")
    status, out, _ = run("check", "net.py")
    assert (status, out.count("error: ")) == (min(count, 1), count)


@pytest.mark.parametrize(
    ("first", "silent"),
    [
        ("# type: ignore", True),
        ("# mypy: ignore-errors", True),
        ('# mypy: disable-error-code="arg-type, shape"', True),
        ("# mypy: disable-error-code=dtype", False),
        ("# mypy: ignore-errors=False", False),
        ("import os  # type: ignore", False),
        ("'''A docstring.'''", False),
    ],
)
def test_a_comment_before_the_first_statement_stands_for_the_file(
    project: Path, run: Run, first: str, silent: bool
) -> None:
    Path("net.py").write_text(f"{first}\nimport os\ny = x  # BUG shape wrong\n")
    assert run("check", "net.py")[0] == (0 if silent else 1)


def test_a_comment_on_any_line_of_an_expression_silences_it() -> None:
    source = "y = f(\n    x,\n    z)  # type: ignore[shape]\n"
    finding = Diagnostic("net.py", Span(1, 4, 3, 6), "shape", "wrong")
    assert suppress.split(source, [finding]) == ([], [finding])
    assert suppress.apply(source, [Diagnostic("net.py", Span(1, 4, 2, 6), "shape", "wrong")])


def test_statistics_sum_over_files(project: Path, run: Run) -> None:
    Path("a.py").write_text("x = torch.zeros(2, 3)\ny = torch.mystery(x)\n")
    Path("b.py").write_text("x = torch.zeros(2, 3)\ny = torch.zeros(2, 3)\n")
    _, out, _ = run("check", "--stats", ".")
    assert out.splitlines()[:3] == [
        "4 tensor expressions: shape known 3 (75.0%), only the rank 0 (0.0%), unknown 1 (25.0%)",
        "1 calls without a rule:",
        "     1  torch.mystery",
    ]
    statistics = json.loads(run("check", "--stats", "--output", "json", ".")[1])["statistics"]
    assert statistics == {
        "tensor_expressions": 4,
        "shape_known": 3,
        "rank_known": 0,
        "unknown": 1,
        "without_rule": {"torch.mystery": 1},
    }


def test_assumptions_are_listed_when_asked_for(project: Path, run: Run) -> None:
    Path("net.py").write_text("assert d % h == 0\n")
    assert "assumes" not in run("check", "net.py")[1]
    assert run("check", "--assumptions", "net.py")[1].splitlines()[0] == "net.py:1: assumes d % h == 0"
    found = json.loads(run("check", "--assumptions", "--output", "json", "net.py")[1])
    assert found == {"file": "net.py", "line": 1, "severity": "assumption", "message": "d % h == 0"}


def test_a_fault_in_the_checker_is_a_note_and_the_next_file_is_checked(project: Path, run: Run) -> None:
    Path("a.py").write_text("CRASH\n")
    Path("b.py").write_text("y = x  # BUG shape wrong\n")
    status, out, error = run("check", ".")
    assert status == 1
    assert out.splitlines()[0] == (
        "a.py:1:1: note: shaped: this file was skipped: ZeroDivisionError in the checker itself (not in your code)"
    )
    assert out.splitlines()[1].startswith("b.py:1:3: error: wrong")
    assert "Traceback" not in error
    assert "ZeroDivisionError: no such shape" in run("check", "--traceback", "a.py")[2]


def test_several_processes_print_what_one_prints(tmp_path: Path) -> None:
    for number in range(12):
        text = f"import torch\nx = torch.zeros(2, {number}) @ torch.zeros(5, 7)\n"
        (tmp_path / f"net{number}.py").write_text(text)
    one, two = (
        subprocess.run(
            [sys.executable, "-m", "shaped", "check", "--jobs", jobs, "."],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for jobs in ("1", "2")
    )
    assert one == two
    assert one.splitlines()[-1] == "Found 11 errors in 11 files (checked 12 files)"


def test_show_prints_the_outermost_shape_beside_each_line(project: Path, run: Run) -> None:
    Path("net.py").write_text("import torch\nx = torch.zeros(2, 3)\ny = x @ w  # BUG shape wrong\n")
    status, out, _ = run("show", "net.py")
    assert status == 1
    assert out.splitlines() == [
        "1 import torch",
        '2 x = torch.zeros(2, 3)  "2 3"',
        "3 y = x @ w  # BUG shape wrong",
        "    ^ error: wrong",
        "      note: 128: out_features of self.fc1, line 10",
        "      note: hint: nn.Linear(128, 10)?",
    ]


def test_colour_is_for_terminals_unless_asked_for(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("net.py").write_text("x = torch.zeros(2, 3)\n")
    assert "\x1b" not in run("show", "net.py")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[36m" in run("show", "net.py")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("show", "net.py")[1]


def test_checking_a_file_loads_neither_torch_nor_anything_slow(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("import torch\nx = torch.zeros(2, 3)\n")
    program = (
        "import sys\n"
        "from shaped.cli import main\n"
        f"status = main(['check', {str(file)!r}])\n"
        "slow = {'torch', 'numpy', 'jaxtyping', 'mypy', 'rich', 'asyncio', 'multiprocessing', 'hypothesis'}\n"
        "print(status, sorted(slow & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_reader_that_stops_early_is_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("x = 1\n" * 20000)
    command = f"{sys.executable} -m shaped show {file} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("1 x = 1", "")


def test_a_code_that_pyproject_disables_is_not_reported(project: Path, run: Run) -> None:
    Path("net.py").write_text("y = x  # BUG shape-squeeze one\ny = x  # BUG dtype two\n")
    Path("pyproject.toml").write_text("[tool.shaped]\ndisable = ['shape']\n")
    assert [line.split(":")[1] for line in run("check", "net.py")[1].splitlines()[:-1]] == ["2", "2", "2"]
    assert "error: one" not in run("show", "net.py")[1]
    assert run("check", "--disable", "dtype", "net.py") == (0, "Success: no shape errors in 1 file\n", "")
    assert run("check", "--enable", "shape", "net.py")[1].count("error: ") == 2
    assert "error: one" in run("show", "--enable", "shape-squeeze", "net.py")[1]


def test_a_revealed_shape_is_shown_whatever_codes_are_disabled(project: Path, run: Run) -> None:
    Path("net.py").write_text("x = reveal_shape(y)  # REVEAL\n")
    assert "Revealed shape" in run("check", "--disable", "shape", "net.py")[1]


def test_excluded_files_are_left_out_of_folders_but_checked_when_they_are_named(project: Path, run: Run) -> None:
    for folder in ("src", "tests/deep"):
        Path(folder).mkdir(parents=True)
        Path(folder, "net.py").write_text("y = x  # BUG shape wrong\n")
    Path("pyproject.toml").write_text("[tool.shaped]\nexclude = ['tests/**']\n")
    assert run("check", ".")[1].splitlines()[-1] == "Found 1 error in 1 file (checked 1 file)"
    assert run("check", "tests") == (0, "Success: no shape errors in 0 files\n", "")
    assert run("check", "tests/deep/net.py")[0] == 1


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_configuration_that_means_nothing_exits_with_2(project: Path, run: Run, command: str) -> None:
    Path("net.py").write_text("y = x  # BUG shape wrong\n")
    said = "'shap' is no diagnostic code; did you mean 'shape'?\n"
    assert run(command, "--enable", "shap", "net.py") == (2, "", f"shaped {command}: --enable and --disable: {said}")
    Path("pyproject.toml").write_text("[tool.shaped]\nenable = ['shap']\n")
    assert run(command, "net.py") == (2, "", f"shaped {command}: pyproject.toml: tool.shaped.enable: {said}")


def test_the_traceback_of_a_fault_in_the_checker_is_shown_where_pyproject_asks_for_it(project: Path, run: Run) -> None:
    Path("a.py").write_text("CRASH\n")
    Path("pyproject.toml").write_text("[tool.shaped]\ntraceback = true\n")
    assert "ZeroDivisionError: no such shape" in run("check", "a.py")[2]


def test_an_interrupted_run_says_how_far_it_came(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(checker: Checker, path: Path, source: str | None = None, codes: frozenset[str] = DEFAULT_CODES) -> Report:
        if path.name == "b.py":
            raise KeyboardInterrupt
        return stand_in(checker, path, source, codes)

    monkeypatch.setattr(Checker, "check", check)
    for name in "abc":
        Path(f"{name}.py").write_text("y = x  # BUG shape wrong\n")
    status, out, error = run("check", ".")
    assert status == 130
    assert out.splitlines()[-1] == "Found 1 error in 1 file (checked 1 file)"
    assert error == "Interrupted: 1 of 3 files checked\n"


def test_an_interrupt_ends_all_processes(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"net{number}.py").write_text("import torch\n" + f"x{number} = torch.zeros(2, 3)\n" * 2000)
    command = [sys.executable, "-m", "shaped", "check", "--no-cache", "--jobs", "2", "--output", "json", "--stats", "."]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            pytest.skip("no way to see the processes of another here")
        while process.poll() is None and len(children.read_text().split()) < 2:
            time.sleep(0.01)
        workers = children.read_text().split()
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate()
    assert process.returncode == 130
    assert re.fullmatch(r"Interrupted: \d+ of 40 files checked\n", error)
    assert len(workers) == 2
    assert not any(map(is_running, workers))


def is_running(process: str) -> bool:
    """Whether a process still runs after some time in which it may end."""
    status = Path(f"/proc/{process}/stat")
    for _ in range(100):
        if not status.exists() or ") Z " in status.read_text():
            return False
        time.sleep(0.1)
    return True


def test_a_process_that_dies_is_a_note_and_the_other_files_are_checked(project: Path, run: Run) -> None:
    Path("a.py").write_text("KILL\n")
    for name in "bc":
        Path(f"{name}.py").write_text("y = x  # BUG shape wrong\n")
    status, out, _ = run("check", "--jobs", "2", ".")
    assert status == 1
    assert out.splitlines()[0] == (
        "a.py:1:1: note: shaped: this file was skipped: the process that checked it died (killed, or out of memory)"
    )
    assert out.splitlines()[-1] == "Found 2 errors in 2 files (checked 3 files)"
