"""The examples do what they say: each one runs, the clean ones are clean, each broken one has a fault that is found."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from shaped.cli import main
from shaped.static.check import Checker
from tests.expected import errors_in, expected_in, told

EXAMPLES = Path(__file__).parent.parent / "examples"
CLEAN = sorted(EXAMPLES.glob("*.py"))
GRADIENTS = sorted((EXAMPLES / "gradients").glob("*.py"))
BROKEN = sorted((EXAMPLES / "broken").glob("*.py"))


def by_name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", CLEAN, ids=by_name)
def test_an_example_runs_and_reaches_its_goal(path: Path) -> None:
    # One thread: the models are small, and several tests run at once.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", BROKEN, ids=by_name)
def test_a_broken_example_fails_in_torch(path: Path) -> None:
    with pytest.raises((RuntimeError, IndexError, ValueError, AssertionError)) as raised:
        runpy.run_path(str(path), run_name="__main__")
    # The fault lies in the example: the last frame of the file that raised is no import.
    assert any(Path(entry.path) == path and entry.name != "<module>" for entry in raised.traceback)


@pytest.mark.parametrize("path", [*CLEAN, *GRADIENTS], ids=by_name)
def test_a_clean_example_has_no_diagnostics(path: Path) -> None:
    found = errors_in(path)
    assert not found, told(found)


@pytest.mark.parametrize("path", BROKEN, ids=by_name)
def test_a_broken_example_is_reported_on_its_marked_line_only(path: Path) -> None:
    expected = expected_in(path.read_text(encoding="utf-8"))
    assert len(expected) == 1, "a broken example has exactly one fault"
    found = errors_in(path)
    assert len(found) == 1, told(found)
    assert expected[0].is_met_by(found[0]), told(found)


# Expressions without a known shape, with the reason; each is given a name or a known shape by what is done with it.
OPEN = {
    "self.shortcut(x)": "the input itself or a convolution of it, as the sizes of the block ask",
    "torch.bincount(pairs, minlength=classes * classes)": "more counts than asked for where a value is larger",
    "torch.tensor([BEGIN, *map(words.index, sentence.split()), END])": "each sentence has a length of its own",
}


@pytest.mark.parametrize("path", [*CLEAN, *GRADIENTS], ids=by_name)
def test_every_shape_of_an_example_is_known(path: Path) -> None:
    report = Checker().check(path)
    statistics = report.statistics
    exempt = sum(shown.source in OPEN for shown in report.shapes)
    assert statistics.tensors > 0
    assert statistics.unknown == 0
    assert statistics.shape_known + exempt == statistics.tensors


def test_mypy_with_the_plugin_accepts_every_example() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", EXAMPLES / "mypy.ini", *CLEAN, *GRADIENTS],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name, is_right", [("right", True), ("wrong", False)])
def test_the_gradients_of_the_examples_are_judged_right(
    name: str, is_right: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = EXAMPLES / "gradients" / f"{name}.py"
    assert main(["verify", str(path)]) == (0 if is_right else 1)
    verdicts = [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(path))]
    assert len(verdicts) >= 4
    assert all(("proved for every size and value" in line) is is_right for line in verdicts)
