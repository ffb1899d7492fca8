"""The tutorial of tests shows what pytest prints. `python -m tests.testing.test_tutorial` writes it anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.test_docs import DOCS, REPOSITORY, blocks
from tests.testing.test_plugin import PLUGIN

PAGE = DOCS / "tutorial-testing.md"
# No line of the page may depend on the machine: its speed, its paths, and where torch keeps an object.
SETTINGS = """
from hypothesis import HealthCheck, Phase, settings

phases = [Phase.explicit, Phase.generate, Phase.shrink]
quiet = [HealthCheck.too_slow]
settings.register_profile("page", deadline=None, derandomize=True, phases=phases, suppress_health_check=quiet)
settings.load_profile("page")
"""


def output_of(command: str, folder: Path) -> str:
    """What a pytest command prints, its duration left out."""
    program, *arguments = command.split()
    assert program == "pytest"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    text = re.sub(r" in [\d.]+s( \([\d:]+\))?$", "", done.stdout, flags=re.MULTILINE)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def written_anew() -> str:
    """The page with the outputs that its commands print now."""
    text = PAGE.read_text(encoding="utf-8")
    pieces, end = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(SETTINGS, encoding="utf-8")
        for block in blocks(text):
            if block.file:
                (folder / block.file).write_text(block.text, encoding="utf-8")
            elif block.text.startswith("$ pytest"):
                command = block.text.partition("\n")[0]
                pieces += [text[end : block.start], f"{command}\n{output_of(command.removeprefix('$ '), folder)}"]
                end = block.start + len(block.text)
    return "".join([*pieces, text[end:]])


@pytest.mark.slow
def test_the_page_shows_what_pytest_prints() -> None:
    assert PAGE.read_text(encoding="utf-8") == written_anew()


if __name__ == "__main__":
    PAGE.write_text(written_anew(), encoding="utf-8")
