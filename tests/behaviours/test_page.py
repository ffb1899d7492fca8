"""`docs/behaviours.md` holds: each test that it names exists, and each line has one or says why not."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
PAGE = REPOSITORY / "docs" / "behaviours.md"
_ID = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_ROW = re.compile(r"^\| (?P<behaviour>.+?) \| (?P<held>.+) \|$", re.MULTILINE)
ROWS = [row for row in _ROW.finditer(PAGE.read_text(encoding="utf-8")) if row["behaviour"] != "behaviour"]


@functools.cache
def functions_of(file: str) -> frozenset[str]:
    """The names of the test functions of a file."""
    tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["behaviour"][:60]) for row in ROWS])
def test_a_behaviour_is_held_by_tests_that_exist_or_says_why_not(row: re.Match[str]) -> None:
    ids = _ID.findall(row["held"])
    if not ids:
        assert re.match(r"No test: .{40,}\.$", row["held"])
    for file, name in ids:
        assert name.startswith("test_")
        assert name in functions_of(file), f"{file} has no {name}"
    assert not _ID.sub("", row["held"]).strip() or not ids  # nothing but ids beside ids


def test_every_test_of_this_folder_stands_on_the_page() -> None:
    named = set(_ID.findall(PAGE.read_text(encoding="utf-8")))
    here = sorted(path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__))
    own = {
        (path.relative_to(REPOSITORY).as_posix(), name)
        for path in here
        for name in functions_of(path.relative_to(REPOSITORY).as_posix())
        if name.startswith("test_")
    }
    assert own <= named


def test_the_page_has_all_its_sections() -> None:
    assert len(ROWS) >= 50
    titles = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(titles) == 9
