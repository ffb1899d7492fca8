"""What is shipped, and what `make` installs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import shaped

REPOSITORY = Path(__file__).parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = [
    line
    for line in (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def name_of(requirement: str) -> str:
    """The package that a requirement is about, in the spelling that packages are compared by."""
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def test_the_version_is_said_once() -> None:
    assert shaped.__version__ == PROJECT["project"]["version"]


@pytest.mark.parametrize("line", CONSTRAINTS)
def test_a_constraint_is_one_exact_version_from_any_index(line: str) -> None:
    assert re.fullmatch(r"[\w.-]+==[\w.]+", line)


def test_every_requirement_is_pinned_at_a_version_that_it_allows() -> None:
    pinned = {name_of(line): line.partition("==")[2] for line in CONSTRAINTS}
    required = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    required += [requirement for extra in PROJECT["project"]["optional-dependencies"].values() for requirement in extra]
    for requirement in required:
        least = requirement.partition(">=")[2]
        version = pinned[name_of(requirement)]
        assert [int(part) for part in version.split(".")[:2]] >= [int(part) for part in least.split(".")[:2]]


def test_the_wheel_holds_the_typed_package_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        entry_points = archive.read(next(name for name in names if name.endswith("/entry_points.txt"))).decode()
    assert {"shaped/py.typed", "shaped/mypy.py", "shaped/static/check.py", "shaped/__main__.py"} <= names
    assert "shaped/init/kernel.c" in names
    assert all(name.startswith(("shaped/", f"shaped-{shaped.__version__}.dist-info/")) for name in names)
    assert "shaped = shaped.cli:run" in entry_points
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra" not in line] == [
        "Requires-Dist: jaxtyping>=0.2.24"
    ]


def test_make_knows_its_targets() -> None:
    for target in ("demo", "test", "slow", "bench"):
        done = subprocess.run(["make", "--dry-run", target], cwd=REPOSITORY, check=True, capture_output=True, text=True)
        assert "python -m pip install" in done.stdout or ".venv/bin" in done.stdout
