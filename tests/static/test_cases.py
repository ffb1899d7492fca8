"""The checker against programs as people write them: a bad one is reported where it says so, a good one is silent.

The programs of `tests/cases`:

- `<kind>/<name>_bad.py` and `_good.py`: a fault and its repair, by the kind of the fault. Each line that is to be
  reported bears a mark that `tests.expected` reads. A line marked `# cause` may be reported instead, or too.
- `packages/<name>_bad/` and `_good/`: the same, in several modules.
- `good/`: code that is right and looks odd.
- `public/`: public bug reports, reduced. A report of a bad one is right on its `# BUG` or `# CAUSE` line. Those from
  060 on run without an exception and compute something else than was meant.

torch itself is the witness: each bad program raises, each good one runs.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from shaped.static.check import Checker
from tests.expected import errors_in, expected_in, told

CASES = Path(__file__).parent.parent / "cases"
PACKAGES = CASES / "packages"
PUBLIC = CASES / "public"

# Silent faults that the checker does not find yet, with the reason. One that it starts to find has to leave this list.
NOT_YET_FOUND: dict[str, str] = {
    "104_length_mask_from_feature_axis_bad": "not visible in shapes",
}

# Faults that show only where a call gives sizes: by themselves, two sizes that a caller chose may be equal.
FOUND_ONLY_IN_CALLS = {
    "expand/latent_over_time_bad": "the batch may be as large as the number of steps",
    "mask/causal_mask_not_sliced_bad": "the sequence may be as long as the mask",
    "device/made_on_the_cpu_bad": "the model may be on the CPU",
    "device/input_not_moved_bad": "all of it is in main",
    "dtype/numpy_into_a_model_bad": "the model may be called with float32",
}

# Where torch raises: told beside the cause.
ALSO_TOLD = {"045_repeat_kv_on_wrong_layout_bad": {19}}


def programs(pattern: str) -> list[Path]:
    """Single files of our own that match the pattern."""
    return sorted(path for path in CASES.glob(f"*/{pattern}") if path.parent not in (PUBLIC, PACKAGES))


BAD = programs("*_bad.py")
GOOD = [path for path in programs("*.py") if not path.stem.endswith("_bad")]
BAD_PACKAGES = sorted(PACKAGES.glob("*_bad"))
GOOD_PACKAGES = sorted(PACKAGES.glob("*_good"))
PUBLIC_BAD = [path for path in sorted(PUBLIC.glob("*_bad.py")) if path.stem < "060"]
PUBLIC_SILENT = [path for path in sorted(PUBLIC.glob("*_bad.py")) if path.stem >= "060"]
PUBLIC_GOOD = sorted(PUBLIC.glob("*_good.py"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def lines_marked(path: Path, mark: str) -> set[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, start=1) if re.search(mark, line)}


def assert_reported_as_marked(*paths: Path) -> None:
    """Each expected diagnostic is given, on its line or on one marked as its cause, and no other."""
    expected_somewhere = False
    for path in paths:
        causes = lines_marked(path, r"#\s*cause\b")
        found = errors_in(path)
        unexpected = [d for d in found if d.span.line not in causes]
        for expected in expected_in(path.read_text(encoding="utf-8")):
            expected_somewhere = True
            met = [d for d in unexpected if expected.is_met_by(d)]
            at_the_cause = [d for d in found if d.span.line in causes]
            assert met or at_the_cause, f"line {expected.line} is not reported\n{told(found)}"
            unexpected = [d for d in unexpected if d.span.line != expected.line]
        assert not unexpected, told(unexpected)
    assert expected_somewhere, "no line is marked"


@pytest.mark.parametrize("path", BAD, ids=name_of)
def test_a_bad_program_is_reported_on_its_marked_line(path: Path) -> None:
    assert_reported_as_marked(path)


def test_a_bad_program_is_reported_before_anything_calls_it() -> None:
    missed = set()
    for path in BAD:
        uncalled = re.split(r"^def main\b", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
        marked = lines_marked(path, r"#\s*(error|cause)\b")
        found = Checker().check(path, uncalled).diagnostics
        if not any(d.severity == "error" and d.span.line in marked for d in found):
            missed.add(name_of(path))
    assert missed == set(FOUND_ONLY_IN_CALLS)


@pytest.mark.parametrize("path", GOOD, ids=name_of)
def test_a_good_program_is_silent(path: Path) -> None:
    found = errors_in(path)
    assert not found, told(found)


@pytest.mark.parametrize("folder", BAD_PACKAGES, ids=name_of)
def test_a_bad_package_is_reported_in_the_module_at_fault(folder: Path) -> None:
    assert_reported_as_marked(*sorted(folder.rglob("*.py")))


@pytest.mark.parametrize("folder", GOOD_PACKAGES, ids=name_of)
def test_a_good_package_is_silent(folder: Path) -> None:
    for path in sorted(folder.rglob("*.py")):
        found = errors_in(path)
        assert not found, told(found)


@pytest.mark.parametrize("path", PUBLIC_BAD, ids=name_of)
def test_a_public_fault_that_raises_is_reported(path: Path) -> None:
    found = errors_in(path)
    marked = lines_marked(path, r"#\s*(BUG|CAUSE)\b")
    assert marked & {d.span.line for d in found}, told(found)
    assert {d.span.line for d in found} <= marked | ALSO_TOLD.get(path.stem, set()), told(found)


@pytest.mark.parametrize("path", PUBLIC_GOOD, ids=name_of)
def test_a_public_repair_is_silent(path: Path) -> None:
    found = errors_in(path)
    assert not found, told(found)


def test_the_silent_public_faults_that_are_not_found_are_exactly_the_listed_ones() -> None:
    missed = {path.stem for path in PUBLIC_SILENT if not errors_in(path)}
    assert missed == set(NOT_YET_FOUND)


@pytest.mark.parametrize("path", PUBLIC_SILENT, ids=name_of)
def test_a_silent_public_fault_is_reported_nowhere_else(path: Path) -> None:
    found = errors_in(path)
    assert {d.span.line for d in found} <= lines_marked(path, r"#\s*(BUG|CAUSE)\b"), told(found)


def run(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of broadcasting losses, which is what some programs are about
        runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", [*BAD, *PUBLIC_BAD], ids=name_of)
def test_torch_rejects_a_bad_program(path: Path) -> None:
    with pytest.raises((RuntimeError, IndexError, ValueError, AssertionError)):
        run(path)


@pytest.mark.parametrize("path", [*GOOD, *PUBLIC_GOOD], ids=name_of)
def test_torch_runs_a_good_program(path: Path) -> None:
    run(path)


@pytest.mark.parametrize("folder", [*BAD_PACKAGES, *GOOD_PACKAGES], ids=name_of)
def test_torch_rejects_the_bad_packages_only(folder: Path) -> None:
    done = subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == folder.name.endswith("_bad"), done.stderr
