"""Modules of the project are found and read as Python finds them; libraries are known by their names only."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaped.static.check import Checker
from shaped.static.imports import Imports, absolute_name, module_name, project_root
from tests.static.oracle import PRELUDE, notes


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package with a module that makes tensors."""
    package = tmp_path / "app"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("from .sizes import WIDTH as wide\n")
    (package / "sizes.py").write_text("WIDTH = 3\n_HIDDEN = 4\n")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "make.py").write_text(
        "import torch\nfrom ..sizes import WIDTH\ndef make(n): return torch.zeros(n, WIDTH)\n"
    )
    return tmp_path


def revealed_in(path: Path, source: str) -> list[str]:
    """What the checker reveals in a file of a project."""
    return [shape for _, shape in notes(Checker(show_traceback=True).check(path, PRELUDE + source))]


@pytest.mark.parametrize(
    "source",
    [
        "from app.inner.make import make\nreveal_shape(make(2))",
        "import app.inner.make\nreveal_shape(app.inner.make.make(2))",
        "import app.inner.make as m\nreveal_shape(m.make(2))",
        "from app.inner import make\nreveal_shape(make.make(2))",
        "from app import wide\nreveal_shape(torch.zeros(2, wide))",
        "import app\nreveal_shape(torch.zeros(2, app.wide))",
        "from app.sizes import *\nreveal_shape(torch.zeros(2, WIDTH))",
        "def f():\n    from app.sizes import WIDTH as w\n    return w\nreveal_shape(torch.zeros(2, f()))",
    ],
)
def test_every_form_of_an_import_finds_the_module(project: Path, source: str) -> None:
    assert revealed_in(project / "main.py", source) == ["2 3"]


def test_a_star_takes_no_hidden_names(project: Path) -> None:
    source = "from app.sizes import *\nreveal_shape(torch.zeros(2, _HIDDEN))"
    assert revealed_in(project / "main.py", source) != ["2 4"]


@pytest.mark.parametrize("line", ["from .sizes import WIDTH", "from . import sizes\nWIDTH = sizes.WIDTH"])
def test_relative_imports_start_at_the_package(project: Path, line: str) -> None:
    assert revealed_in(project / "app" / "other.py", f"{line}\nreveal_shape(torch.zeros(WIDTH))") == ["3"]
    deeper = line.replace("from .", "from ..")
    assert revealed_in(project / "app" / "inner" / "x.py", f"{deeper}\nreveal_shape(torch.zeros(WIDTH))") == ["3"]


def test_a_library_is_never_read(project: Path) -> None:
    (project / "numpy.py").write_text("pi = 3\n")
    imports = Imports()
    module = imports.source(project / "main.py", "")
    assert imports.load("numpy", module) is None
    assert imports.load("missing", module) is None


def test_of_the_package_itself_the_data_are_read_wherever_the_project_is(project: Path) -> None:
    source = "from shaped.runtime.data import digits, causal_mask\nreveal_shape(digits()[0].images)"
    assert revealed_in(project / "main.py", source) == ["n 1 8 8"]
    imports = Imports()
    module = imports.source(project / "main.py", "")
    assert imports.load("shaped.runtime.data.masks", module) is not None
    assert imports.load("shaped.runtime.checkpoint", module) is None
    assert imports.load("shaped", module) is None


def test_what_is_read_is_what_the_answer_depends_on(project: Path) -> None:
    report = Checker().check(project / "main.py", "from app.inner.make import make\nimport missing\nx = make(2)\n")
    assert str(project / "app" / "inner" / "make.py") in report.depends_on
    assert str(project / "missing.py") in report.depends_on


def test_names_of_modules_follow_their_packages(project: Path) -> None:
    assert module_name(project / "app" / "inner" / "make.py", project) == "app.inner.make"
    assert module_name(project / "app" / "__init__.py", project) == "app"
    assert module_name(project / "main.py", project) == "main"
    assert project_root(project / "app" / "inner" / "make.py") == project


def test_absolute_names_of_relative_imports(project: Path) -> None:
    imports = Imports()
    make = imports.source(project / "app" / "inner" / "make.py", "")
    package = imports.source(project / "app" / "inner" / "__init__.py", "")
    assert absolute_name(make, 1, "x") == absolute_name(package, 1, "x") == "app.inner.x"
    assert absolute_name(make, 2, None) == absolute_name(package, 2, None) == "app"
    assert absolute_name(make, 0, "torch.nn") == "torch.nn"
