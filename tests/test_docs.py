"""The documentation holds: programs give the output that it shows, links lead somewhere, pages are complete.

Blocks of a page are told apart by their first line:

- `python file=model.py` (or `ini file=...`): a file, for the commands that follow on the page;
- `console`: commands (`$ shaped ...`, `$ mypy ...`) and exactly what they print;
- `python run`: is run;
- `python`: a piece of a program; the checker has nothing to say about it;
- other languages are not run.

`python -m tests.test_docs` writes all output anew, to be read as a diff.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs import generate
from shaped import cli
from shaped.codes import CODES, DEFAULT_CODES
from shaped.errors import Fault
from shaped.spec import op as declarations
from shaped.spec.meaning import MEANINGS, load
from shaped.static.check import Checker

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parent.parent
DOCS = REPOSITORY / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "examples" / "README.md"])
RUN_TIME_CODES = {"gradient", "type"}  # what the checker leaves to mypy, and what ops with a backward break
CODE_PAGES = sorted(path for path in (DOCS / "codes").glob("*.md") if path.stem != "README")
IMPORTS = """\
import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

"""
_BLOCK = re.compile(r"^```(?P<info>\w.*)\n(?P<text>(?:(?!```).*\n)*)```$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the words behind the fence, the text, and where the text stands in the page."""

    language: str
    options: tuple[str, ...]
    text: str
    start: int

    @property
    def file(self) -> str:
        """The name of the file that the block shows, empty for none."""
        return next((option.removeprefix("file=") for option in self.options if option.startswith("file=")), "")


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(match["info"].split()[0], tuple(match["info"].split()[1:]), match["text"], match.start("text"))
        for match in _BLOCK.finditer(page)
    ]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """The folder as the working folder, and output without colour."""
    before, colour = Path.cwd(), {name: os.environ.pop(name, None) for name in ("FORCE_COLOR", "COLUMNS")}
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.update({name: value for name, value in colour.items() if value is not None})


def output_of(command: str) -> str:
    """What a command prints, run in the working folder."""
    program, *arguments = shlex.split(command)
    if program == "shaped":
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            cli.main(arguments)
        return output.getvalue()
    assert program == "mypy", f"the docs show the output of {program}"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    return done.stdout + done.stderr


def console(block: Block) -> str:
    """The text of a console block as it is when its commands are run in the working folder."""
    commands = [line for line in block.text.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{output_of(command.removeprefix('$ '))}" for command in commands)


def consoles(page: Path) -> Iterator[tuple[Block, str]]:
    """Each console block of a page, with what it has to be; the files of the page lie in the working folder."""
    with tempfile.TemporaryDirectory() as folder, working_in(Path(folder)):
        for block in blocks(text_of(page)):
            if block.file:
                path = Path(block.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                yield block, console(block)


def errors_in(source: str, codes: frozenset[str] = DEFAULT_CODES) -> list[str]:
    """What the checker reports in a program, its notes left out."""
    found = Checker().check(Path("docs.py").absolute(), source, codes).diagnostics
    return [f"line {one.span.line}: {one.message} [{one.code}]" for one in found if one.severity == "error"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    for block, wanted in consoles(page):
        assert block.text == wanted


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_piece_of_a_program_is_right(page: Path) -> None:
    for block in blocks(text_of(page)):
        if block.language == "python" and not block.options:
            assert not errors_in(IMPORTS + block.text), block.text


@pytest.fixture
def declared_for_a_page() -> Iterator[None]:
    """What a page declares is gone after it."""
    load()
    tables = [declarations.OPS, declarations.MODULES, declarations._BY_TORCH_NAME, MEANINGS]
    before = [dict(table) for table in tables]
    yield
    for table, kept in zip(tables, before):
        table.clear()
        table.update(kept)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
@pytest.mark.usefixtures("declared_for_a_page")
def test_programs_that_are_to_be_run_run(page: Path) -> None:
    names: dict[str, object] = {"__name__": "documented"}
    for block in blocks(text_of(page)):
        if "run" in block.options:
            exec(compile(block.text, name_of(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page: Path) -> None:
    text = text_of(page)
    assert text.count("```") == 2 * len(blocks(text)), "a fence without a language, or one that is not closed"
    for block in blocks(text):
        assert block.language in ("python", "ini", "toml", "yaml", "console", "sh", "text")
        assert all(option == "run" or option.startswith("file=") for option in block.options)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in (match["target"] for match in _LINK.finditer(_BLOCK.sub("", text_of(page)))):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), target


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    to_read = [DOCS / "README.md"]
    while to_read:
        page = to_read.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = (match["target"].partition("#")[0] for match in _LINK.finditer(_BLOCK.sub("", text_of(page))))
        to_read += [(page.parent / link).resolve() for link in links if link and "://" not in link]
    assert set(PAGES) <= seen


def test_pages_that_are_made_from_the_code_are_up_to_date() -> None:
    for path, text in generate.pages().items():
        assert text_of(path) == text, "run python -m docs.generate"


# Diagnostic codes


def codes_in_source() -> set[str]:
    """The codes that the checker gives, as they are written in its source: `code="..."`, `code: str = "..."`, and the
    third argument of a `Diagnostic`."""
    found: set[str] = set()
    for path in sorted((REPOSITORY / "shaped").rglob("*.py")):
        for node in ast.walk(ast.parse(text_of(path))):
            match node:
                case (
                    ast.keyword(arg="code", value=ast.Constant(value=str() as code))
                    | ast.AnnAssign(target=ast.Name(id="code"), value=ast.Constant(value=str() as code))
                    | ast.Call(func=ast.Name(id="Diagnostic"), args=[_, _, ast.Constant(value=str() as code), *_])
                ):
                    found.add(code)
    return found


def test_every_code_of_the_checker_has_a_page_and_every_page_its_code() -> None:
    assert {page.stem for page in CODE_PAGES} == codes_in_source() == set(CODES)


@pytest.mark.parametrize("page", CODE_PAGES, ids=name_of)
def test_the_bad_program_of_a_code_is_reported_with_it(page: Path) -> None:
    files = {block.file: block.text for block in blocks(text_of(page)) if block.file}
    bad = [text for name, text in files.items() if name.startswith("bad")]
    if page.stem == "internal":  # no program is known that has it
        assert not bad
        return
    assert bad
    if page.stem in RUN_TIME_CODES:
        for program in bad:
            with pytest.raises(Fault) as refused:
                exec(program, {})
            assert refused.value.code == page.stem
        return
    for program in bad:
        found = Checker().check(Path("bad.py").absolute(), program, DEFAULT_CODES | {page.stem}).diagnostics
        # An argument in another order is said only with a fault that it explains.
        explained = {"shape"} if page.stem == "shape-axes" else set()
        codes = {one.code for one in found if one.severity == "error"}
        assert page.stem in codes
        assert codes <= {page.stem} | explained


@pytest.mark.parametrize("page", CODE_PAGES, ids=name_of)
def test_the_good_program_of_a_code_is_silent(page: Path) -> None:
    files = {block.file: block.text for block in blocks(text_of(page)) if block.file}
    good = [text for name, text in files.items() if name.startswith("good")]
    assert good or page.stem == "internal"
    for program in good:
        assert not errors_in(program, DEFAULT_CODES | {page.stem})
        if page.stem in RUN_TIME_CODES:
            exec(program, {})


def test_the_page_of_dependencies_names_each_of_them_and_no_other() -> None:
    project = tomllib.loads(text_of(REPOSITORY / "pyproject.toml"))
    required = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    required += [one for extra in project["project"]["optional-dependencies"].values() for one in extra]
    named = re.findall(r"^\| `([\w.-]+)` \|", text_of(DOCS / "dependencies.md"), re.MULTILINE)
    assert set(named) == {re.split(r"[<>=~!\[ ]", one)[0] for one in required}


def test_no_page_names_a_path_of_a_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(work|tmp|home|root|Users)\b", text_of(page)), page


def write_outputs() -> None:
    """Put what the commands print now into the pages."""
    for page in PAGES:
        text = text_of(page)
        for block, wanted in reversed(list(consoles(page))):
            text = text[: block.start] + wanted + text[block.start + len(block.text) :]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    generate.main()
    write_outputs()
