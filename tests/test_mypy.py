"""The mypy plugin, under the oldest and the newest mypy: findings, comments, caches, workers, the daemon, faults.

All but the last run a stand-in checker (`mypy_standin.py`) on stubs of torch, so that they say what the plugin does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = Path(sys.prefix) / "mypy-oldest"  # put there by the Makefile
VERSIONS = ["newest", "oldest"] if OLDEST.is_dir() or os.environ.get("CI") else ["newest"]
REPOSITORY = Path(__file__).parent.parent

TORCH = {
    "torch/__init__.pyi": """
from typing import Any, Callable, TypeVar
from torch._tensor import Tensor as Tensor
from torch import nn as nn
F = TypeVar("F", bound=Callable[..., Any])
def zeros(*size: int) -> Tensor: ...
def no_grad() -> Callable[[F], F]: ...
""",
    "torch/_tensor.pyi": """
class Tensor:
    def __matmul__(self, other: Tensor) -> Tensor: ...
""",
    "torch/nn/__init__.pyi": """
from torch.nn.modules.module import Module as Module
from torch.nn.modules.layers import Linear as Linear, Attention as Attention
""",
    "torch/nn/modules/__init__.pyi": "",
    "torch/nn/modules/module.pyi": """
from typing import Any, Callable
class Module:
    forward: Callable[..., Any]
    __call__: Callable[..., Any]
""",
    "torch/nn/modules/layers.pyi": """
from torch import Tensor
from torch.nn.modules.module import Module
class Linear(Module):
    def __init__(self, m: int, n: int) -> None: ...
    def forward(self, x: Tensor) -> Tensor: ...
class Attention(Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]: ...
""",
}
FILES = ("net.py", "other.py")
NOTES = """\
{0}: note: 128: out_features of self.fc1, line 10
{0}: note: hint: nn.Linear(128, 10)?
"""


@dataclass
class Project:
    """A folder of sources that mypy checks with the plugin."""

    folder: Path
    version: str
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, **files: str) -> None:
        """Write Python files; what is checked has at least one function that mypy checks.

        mypy takes a file of the same size and the same second for the same file, so each write is a second later.
        """
        for name, text in files.items():
            file = self.folder / f"{name}.py"
            later = file.stat().st_mtime + 2 if file.exists() else None
            file.write_text(text, encoding="utf-8")
            if later is not None:
                os.utime(file, (later, later))

    def configure(self, text: str, plugin: str = "standin.py") -> None:
        """Write mypy's configuration."""
        lines = f"[mypy]\nplugins = {plugin}\nmypy_path = stubs\n{text}\n"
        (self.folder / "mypy.ini").write_text(lines, encoding="utf-8")

    def mypy(self, *arguments: str, tool: str = "mypy") -> str:
        """What mypy prints, without its last line and the daemon's own."""
        lines = self.run(*arguments, tool=tool).stdout.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith(("Found ", "Success: ", "Daemon ")))

    def run(self, *arguments: str, tool: str = "mypy") -> subprocess.CompletedProcess[str]:
        """Run mypy."""
        path = [str(OLDEST)] if self.version == "oldest" else []
        path += [self.environment.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, **self.environment, "PYTHONPATH": os.pathsep.join(filter(None, path))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling the checker anew for each run takes longer than it
        environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / f"shaped-tests-bytecode-{os.getuid()}")
        return subprocess.run(
            [sys.executable, "-m", tool, *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def checked(self) -> list[str]:
        """The files that were checked since the last call."""
        log = self.folder / "checked.log"
        names = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(names)


@pytest.fixture(scope="session")
def warm_caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each mypy, a cache that holds the standard library, to start from."""
    caches = {}
    for version in VERSIONS:
        folder = tmp_path_factory.mktemp(version)
        project = Project(folder, version)
        project.write(empty="import typing, dataclasses\n")
        project.configure("", plugin="")
        project.mypy("empty.py")
        caches[version] = folder / ".mypy_cache"
    return caches


@pytest.fixture(params=VERSIONS)
def project(request: pytest.FixtureRequest, tmp_path: Path, warm_caches: dict[str, Path]) -> Project:
    """An empty project with stubs of torch, for each mypy."""
    shutil.copytree(warm_caches[request.param], tmp_path / ".mypy_cache")
    shutil.copy(Path(__file__).with_name("mypy_standin.py"), tmp_path / "standin.py")
    for name, text in TORCH.items():
        file = tmp_path / "stubs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    project = Project(tmp_path, request.param)
    project.configure("warn_unused_ignores = True")
    return project


def test_a_finding_stands_at_its_place_with_its_notes_below(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    y = x + 1  # BUG shape matmul: they differ\n    return y\n")
    assert project.run("net.py").returncode == 1
    place = "net.py:2:7:2:13"
    found = project.mypy("--show-column-numbers", "--show-error-end", "net.py")
    assert found == f"{place}: error: matmul: they differ  [shape]\n" + NOTES.format(place)


def test_columns_count_letters_and_not_bytes(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    größe = x + 1  # BUG shape wrong\n    return größe\n")
    assert project.mypy("--show-column-numbers", "net.py").startswith("net.py:2:11: error: wrong")


def test_a_revealed_shape_is_a_note_and_no_error(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    y = x + 1  # REVEAL\n    return y\n")
    assert project.mypy("net.py") == 'net.py:2: note: Revealed shape is "b 10"\n'
    assert project.run("net.py").returncode == 0


def test_type_ignore_comments_silence_by_code_and_parent_code_and_unused_ones_are_told(project: Project) -> None:
    project.write(
        net="def f(x: int) -> int:\n"
        "    a = x + 1  # type: ignore[shape-squeeze] # BUG shape-squeeze one\n"
        "    b = x + 1  # type: ignore # BUG shape two\n"
        "    c = x + 1  # type: ignore[dtype] # BUG dtype three\n"
        "    d = x + 1  # type: ignore[shape]\n"
        "    e = x + 1  # type: ignore[dtype] # BUG shape four\n"
        "    return a + b + c + d + e\n"
    )
    lines = project.mypy("net.py").splitlines()
    assert lines[:3] == [
        'net.py:5: error: Unused "type: ignore" comment  [unused-ignore]',
        'net.py:6: error: Unused "type: ignore" comment  [unused-ignore]',
        "net.py:6: error: four  [shape]",
    ]
    assert lines[3].startswith('net.py:6: note: Error code "shape" not covered by "type: ignore')
    assert lines[4:] == NOTES.format("net.py:6").splitlines()


def test_the_parent_code_silences_a_sub_code(project: Project) -> None:
    project.configure("")
    project.write(net="def f(x: int) -> int:\n    return x + 1  # type: ignore[shape] # BUG shape-squeeze one\n")
    assert project.mypy("net.py") == ""


def test_a_code_can_be_switched_off_in_a_file(project: Project) -> None:
    text = "def f(x: int) -> int:\n    return x + 1  # BUG shape-squeeze one\n"
    project.write(net=text, quiet=f'# mypy: disable-error-code="shape-squeeze"\n{text}')
    assert project.mypy("net.py", "quiet.py") == "net.py:2: error: one  [shape-squeeze]\n" + NOTES.format("net.py:2")


def test_a_file_whose_functions_have_no_annotations_is_checked(project: Project) -> None:
    project.write(
        net="from torch import nn\n\n"
        "class Net(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return self.f(x)  # BUG shape wrong\n"
    )
    assert project.mypy("net.py") == "net.py:5: error: wrong  [shape]\n" + NOTES.format("net.py:5")
    project.write(other="def f(x):\n    y = x  # BUG shape wrong\n    return y\n")
    if project.version == "newest":  # the oldest mypy tells a plugin nothing of such a file
        assert "other.py:2: error: wrong" in project.mypy("net.py", "other.py")


def test_a_finding_is_not_lost_where_mypy_tries_alternatives(project: Project) -> None:
    project.write(
        net="from typing import overload\n"
        "@overload\n"
        "def f(x: int) -> int: ...\n"
        "@overload\n"
        "def f(x: str) -> str: ...\n"
        "def f(x: int | str) -> int | str:\n"
        "    return x\n"
        "a = f(f(1) + f(2))  # BUG shape wrong\n"
    )
    assert project.mypy("net.py") == "net.py:8: error: wrong  [shape]\n" + NOTES.format("net.py:8")


def test_files_that_mypy_is_silent_about_are_not_checked(project: Project) -> None:
    bug = "def f(x: int) -> int:\n    return x + 1  # BUG shape wrong\n"
    project.configure("[mypy-ignored]\nignore_errors = True\n[mypy-followed]\nfollow_imports = silent\n")
    project.write(net="import ignored, followed\n" + bug, ignored=bug, followed=bug)
    assert project.mypy("net.py") == "net.py:3: error: wrong  [shape]\n" + NOTES.format("net.py:3")
    assert "net.py" in project.checked()


def test_a_warm_run_says_the_same_and_checks_nothing_again(project: Project) -> None:
    project.write(
        lib="SIZE = 8\ndef g(x: int) -> int:\n    return x\n",
        net="from lib import g\ndef f(x: int) -> int:\n    return g(x)  # BUG shape wrong\n",
        clean="from lib import g\ndef f(x: int) -> int:\n    return g(x)\n",
    )
    cold = project.mypy("net.py", "clean.py")
    assert project.checked() == ["clean.py", "lib.py", "net.py"]
    assert "wrong" in cold
    assert project.mypy("net.py", "clean.py") == cold
    # The oldest mypy does not cache files with errors.
    assert project.checked() == ([] if project.version == "newest" else ["net.py"])


def test_an_edit_of_a_callee_is_seen_however_far_away_and_however_little_mypy_sees_of_it(project: Project) -> None:
    project.write(
        far="SIZE = 8\ndef h(x: int) -> int:\n    return x\n",
        near="from far import h\ndef g(x: int) -> int:\n    return h(x)\n",
        net="from near import g\ndef f(x: int) -> int:\n    return g(x)  # WANT 7\n",
        apart="def f(x: int) -> int:\n    return x\n",
    )
    wrong = "net.py:3: error: wants 7, has 8  [shape]\n"
    assert project.mypy("net.py", "apart.py") == wrong
    project.checked()
    project.write(far="SIZE = 7\ndef h(x: int) -> int:\n    return x\n")
    assert project.mypy("net.py", "apart.py") == ""
    assert project.checked() == ["far.py", "near.py", "net.py"]
    assert project.mypy("net.py", "apart.py") == ""
    assert project.checked() == []
    project.write(far="SIZE = 8\ndef h(x: int) -> int:\n    return x\n")
    assert project.mypy("net.py", "apart.py") == wrong


def test_lost_records_mean_a_new_check(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    return x\n")
    project.mypy("net.py")
    shutil.rmtree(project.folder / ".mypy_cache" / "shaped")
    project.checked()
    assert project.mypy("net.py") == ""
    assert project.checked() == ["net.py"]


def test_an_edited_rule_makes_every_answer_stale(project: Project) -> None:
    shutil.copytree(REPOSITORY / "shaped", project.folder / "copy" / "shaped")
    project.environment["PYTHONPATH"] = str(project.folder / "copy")
    project.write(net="def f(x: int) -> int:\n    return x\n")
    project.mypy("net.py")
    project.mypy("net.py")
    assert project.checked() == ["net.py"]
    with (project.folder / "copy" / "shaped" / "spec" / "shape.py").open("a") as rule:
        rule.write("# edited\n")
    project.mypy("net.py")
    assert project.checked() == ["net.py"]


def test_workers_agree_with_one_process(project: Project) -> None:
    if project.version == "oldest":
        assert "--num-workers" not in project.mypy("--help")
        return
    names = [f"net{number}" for number in range(6)]
    for name in names:
        project.write(**{name: "from lib import g\ndef f(x: int) -> int:\n    return g(x)  # WANT 7\n"})
    project.write(lib="SIZE = 8\ndef g(x: int) -> int:\n    return x\n")
    files = [f"{name}.py" for name in names]
    parallel = project.mypy("-n", "2", *files)
    assert parallel.count("wants 7, has 8") == len(names)
    assert sorted(project.mypy("-n", "2", *files).splitlines()) == sorted(parallel.splitlines())
    project.write(lib="SIZE = 7\ndef g(x: int) -> int:\n    return x\n")
    assert project.mypy("-n", "2", *files) == ""
    shutil.rmtree(project.folder / ".mypy_cache")
    assert project.mypy(*files) == ""
    project.write(bare="def f(x):\n    y = x  # BUG shape wrong\n    return y\n")
    assert "bare.py:2: error: wrong  [shape]" in project.mypy("-n", "2", "bare.py")


def test_pyproject_says_what_is_reported_and_a_change_of_it_is_seen(project: Project) -> None:
    bug = "def f(x: int) -> int:\n    return x + 1  # BUG shape-squeeze one\n"
    project.write(net=bug, other=bug)
    found = {file: f"{file}:2: error: one  [shape-squeeze]\n" + NOTES.format(f"{file}:2") for file in FILES}
    settings = {
        "": list(FILES),
        "disable = ['shape']": [],
        "disable = ['shape']\n[[tool.shaped.overrides]]\npaths = ['o*']\nenable = ['shape-squeeze']": ["other.py"],
        "exclude = ['other.py']": ["net.py"],
    }
    for setting, files in settings.items():
        (project.folder / "pyproject.toml").write_text(f"[tool.shaped]\n{setting}\n")
        for _ in "cold", "warm":
            lines = "".join(found[file] for file in files).splitlines()
            assert sorted(project.mypy(*FILES).splitlines()) == sorted(lines)
    project.checked()
    project.mypy(*FILES)
    assert project.checked() == ([] if project.version == "newest" else ["net.py"])


def test_an_imported_file_whose_errors_are_not_wanted_stays_in_the_cache_until_they_are(project: Project) -> None:
    project.write(
        net="from quiet import f\ndef g(x: int) -> int:\n    return f(x)\n",
        quiet="def f(x: int) -> int:\n    return x + 1  # BUG shape one\n",
    )
    project.configure("follow_imports = silent")
    assert project.mypy("net.py") == ""
    assert " stale" not in project.run("--verbose", "net.py").stderr.replace("stale SCCs: 0", "")
    assert "one" in project.mypy("net.py", "quiet.py")


def test_mypys_own_options_go_before_pyproject(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    return x + 1  # BUG shape-squeeze one\n")
    (project.folder / "pyproject.toml").write_text("[tool.shaped]\ndisable = ['shape']\n")
    assert project.mypy("net.py") == ""
    if project.version == "oldest":  # it knows no plugin's codes while it reads its options
        return
    assert "one" in project.mypy("--enable-error-code", "shape-squeeze", "net.py")
    (project.folder / "pyproject.toml").write_text("[tool.shaped]\nenable = ['shape']\n")
    project.configure("disable_error_code = shape-squeeze")
    assert project.mypy("net.py") == ""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_a_configuration_that_means_nothing_ends_mypy(project: Project, workers: list[str]) -> None:
    if workers and project.version == "oldest":
        return
    project.write(net="def f(x: int) -> int:\n    return x\n")
    project.mypy(*workers, "net.py")
    (project.folder / "pyproject.toml").write_text("[tool.shaped]\nenable = ['shap']\n")
    said = "pyproject.toml: tool.shaped.enable: 'shap' is no diagnostic code; did you mean 'shape'?\n"
    for _ in "warm", "cold":
        done = project.run(*workers, "net.py")
        assert (done.returncode, done.stderr) == (2, said)
        shutil.rmtree(project.folder / ".mypy_cache", ignore_errors=True)


@pytest.fixture
def daemon(project: Project) -> Iterator[Project]:
    """A project whose daemon is stopped at the end."""
    yield project
    project.mypy("stop", tool="mypy.dmypy")


def test_the_daemon_agrees_with_a_cold_run_after_each_edit(daemon: Project) -> None:
    def update() -> list[str]:
        return sorted(daemon.mypy("run", "--", "net.py", "other.py", tool="mypy.dmypy").splitlines())

    def lines(text: str) -> list[str]:
        return sorted(text.splitlines())

    far = "SIZE = {}\ndef h(x: int) -> int:\n    return x\n"
    net = "from near import g\ndef f(x):\n    return g(x)  # WANT 7\n\ndef k(x: int) -> int:\n    return g(x)\n"
    daemon.write(
        far=far.format(8),
        near="from far import h\ndef g(x: int) -> int:\n    return h(x)\n",
        net=net,
        other="def f(x: int) -> int:\n    return x + 1  # BUG shape-squeeze other\n",
    )
    other = "other.py:2: error: other  [shape-squeeze]\n" + NOTES.format("other.py:2")
    wrong = "net.py:3: error: wants 7, has {}  [shape]\n"
    assert update() == lines(wrong.format(8) + other)
    daemon.write(far=far.format(12))
    assert update() == lines(wrong.format(12) + other)
    daemon.write(far=far.format(7))
    assert update() == lines(other)
    assert update() == lines(other)
    daemon.write(far=far.format(123))
    assert update() == lines(wrong.format(123) + other)
    daemon.write(net=net.replace("# WANT 7", "# type: ignore[shape] # WANT 7"))
    assert update() == lines(other)
    daemon.write(far=far.format(4567))
    assert update() == lines(other)
    daemon.write(net="def f(x: int) -> int:\n    return x\n", other="def f(x: int) -> int:\n    return x\n")
    assert update() == []


def test_the_daemon_sees_a_changed_forward(daemon: Project) -> None:
    def update() -> str:
        return daemon.mypy("run", "--", "net.py", tool="mypy.dmypy")

    layer = (
        "from torch import Tensor, nn\n\n"
        "class Layer(nn.Module):\n"
        "    def forward(self, x: Tensor) -> {}:\n"
        "        raise ValueError\n"
    )
    daemon.write(
        layer=layer.format("Tensor"),
        net="from torch import Tensor\nfrom layer import Layer\n\ndef f(x: Tensor) -> Tensor:\n    return Layer()(x)\n",
    )
    assert update() == ""
    daemon.write(layer=layer.format("list[str]"))
    assert "Incompatible return value type" in update()
    daemon.write(layer=layer.format("Tensor"))
    assert update() == ""


def test_the_daemon_sees_a_changed_configuration(daemon: Project) -> None:
    def update() -> subprocess.CompletedProcess[str]:
        return daemon.run("run", "--", "net.py", tool="mypy.dmypy")

    daemon.write(net="def f(x: int) -> int:\n    return x + 1  # BUG shape-squeeze one\n")
    assert "one" in update().stdout
    settings = daemon.folder / "pyproject.toml"
    settings.write_text("[tool.shaped]\ndisable = ['shape']\n")
    assert "Restarting: plugins changed" in update().stdout
    assert "Success" in update().stdout
    settings.write_text("[tool.shaped]\ndisable = ['shap']\n")
    assert "did you mean 'shape'?" in update().stderr
    settings.write_text("[tool.shaped]\ndisable = ['dtype']\n")
    assert "one" in update().stdout


def test_the_daemon_starts_afresh_when_a_rule_is_edited(daemon: Project) -> None:
    shutil.copytree(REPOSITORY / "shaped", daemon.folder / "copy" / "shaped")
    daemon.environment["PYTHONPATH"] = str(daemon.folder / "copy")
    daemon.write(net="def f(x: int) -> int:\n    return x\n")
    daemon.configure("", plugin="shaped.mypy")
    daemon.run("run", "--", "net.py", tool="mypy.dmypy")
    with (daemon.folder / "copy" / "shaped" / "spec" / "shape.py").open("a") as rule:
        rule.write("# edited\n")
    done = daemon.run("run", "--", "net.py", tool="mypy.dmypy")
    assert "Restarting: plugins changed" in done.stdout


def test_a_fault_in_the_checker_is_one_note_that_names_the_file(project: Project) -> None:
    project.write(
        bad="def f(x: int) -> int:\n    return x + 1  # CRASH\n",
        net="def f(x: int) -> int:\n    return x + 1  # BUG shape wrong\n",
    )
    done = project.run("bad.py", "net.py")
    found = done.stdout.splitlines()[:-1]
    note = "bad.py:1: note: shaped: this file was skipped: ZeroDivisionError in the checker itself (not in your code)\n"
    assert sorted(found) == sorted((note + "net.py:2: error: wrong  [shape]\n" + NOTES.format("net.py:2")).splitlines())
    assert "Traceback" not in done.stderr


def test_a_checker_that_cannot_be_loaded_is_noted_and_its_silence_not_remembered(project: Project) -> None:
    shutil.copytree(REPOSITORY / "shaped", project.folder / "copy" / "shaped")
    entry = project.folder / "copy" / "shaped" / "static" / "check.py"
    entry.write_text("class Checker(")
    project.environment["PYTHONPATH"] = str(project.folder / "copy")
    project.configure("", plugin="shaped.mypy")
    project.write(net="def f(x: int) -> int:\n    return x + 1\n")
    skipped = "net.py:1: note: shaped: this file was skipped: SyntaxError in the checker itself (not in your code)\n"
    assert project.mypy("net.py") == skipped
    assert project.mypy("net.py") == skipped
    shutil.copy(REPOSITORY / "shaped" / "static" / "check.py", entry)
    assert project.mypy("net.py") == ""


@pytest.mark.parametrize("asked_by", ["environment", "configuration"])
def test_the_traceback_of_a_fault_is_shown_when_asked_for(project: Project, asked_by: str) -> None:
    project.write(bad="def f(x: int) -> int:\n    return x + 1  # CRASH\n")
    if asked_by == "environment":
        project.environment["SHAPED_TRACEBACK"] = "1"
    else:
        project.configure("[shaped]\ntraceback = true\n")
    assert "ZeroDivisionError: no such shape" in project.run("bad.py").stderr


def test_a_syntax_error_is_mypys_to_report(project: Project) -> None:
    project.write(net="def f(x: int) -> int:\n    return (x\n")
    done = project.run("net.py")
    assert done.returncode == 2
    assert done.stdout.count("error:") == 1


def test_a_shadow_file_is_read_in_place_of_the_file(project: Project) -> None:
    project.write(
        net="def f(x: int) -> int:\n    return x\n",
        draft="def f(x: int) -> int:\n    return x + 1  # BUG shape wrong\n",
    )
    assert project.mypy("--shadow-file", "net.py", "draft.py", "net.py").startswith("net.py:2: error: wrong  [shape]")


def test_the_call_of_a_module_has_the_type_that_forward_declares(project: Project) -> None:
    project.write(
        net="""
from typing import Any, Generic, TypeVar
import torch
from torch import Tensor, nn
T = TypeVar("T")

class Pair(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return x, 1
class Heir(Pair): ...
class Bare(nn.Module):
    def forward(self, x): return x
class Many(nn.Module, Generic[T]):
    def forward(self, x: Tensor) -> list[T]: return []
class Quiet(nn.Module):
    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor: return x
class Own(nn.Module):
    def __call__(self, x: int) -> Any: return x
    def forward(self, x: Tensor) -> Tensor: return x

def f(x: Tensor) -> None:
    reveal_type(Pair()(x))
    reveal_type(Heir()(x))
    reveal_type(Bare()(x))
    reveal_type(Many[int]()(x))
    reveal_type(Quiet()(x))
    reveal_type(Own()(3))
    reveal_type(nn.Linear(2, 3)(x))
    reveal_type(nn.Attention()(x))
    reveal_type(nn.Module()(x))
"""
    )
    revealed = [line.split('"')[1].replace("builtins.", "") for line in project.mypy("net.py").splitlines()]
    assert revealed == [
        "tuple[torch._tensor.Tensor, int]",
        "tuple[torch._tensor.Tensor, int]",
        "Any",
        "list[int]",
        "torch._tensor.Tensor",
        "Any",
        "torch._tensor.Tensor",
        "Any",
        "Any",
    ]


@pytest.mark.parametrize(
    "version",
    [version if version == "newest" else pytest.param(version, marks=pytest.mark.slow) for version in VERSIONS],
)
def test_mypy_with_the_real_torch_says_what_the_command_says(version: str, tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    project = Project(tmp_path, version)
    found = project.mypy("--config-file", "examples/mypy.ini", "examples")
    command = project.run("check", "examples", tool="shaped").stdout
    column = re.compile(r"^([^:]+:\d+):\d+:", re.MULTILINE)
    assert sorted(found.splitlines()) == sorted(column.sub(r"\1:", command).splitlines()[:-1])
    assert found.count(": error: ") >= len(list((REPOSITORY / "examples" / "broken").glob("*.py")))
