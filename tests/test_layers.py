"""The floors of the package: an import never goes up, and only the run-time side imports torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "shaped"
# From the bottom: a module may import from its own floor's part and from lower floors.
FLOORS = [
    {"codes", "errors", "reveal"},
    {"spec"},
    {"runtime"},
    {"init"},
    {"static", "verify", "trainers"},
    {"testing"},
    {"cli", "mypy", "_mypy"},
    {"__main__"},
]
FLOOR = {part: number for number, parts in enumerate(FLOORS) for part in parts}
MAY_IMPORT_TORCH = {"runtime", "init", "trainers", "testing", "verify"}
# What the initialisers mean is plain Python, as the rest of what programs mean.
SPEC_OF_INITIALISERS = [
    f"shaped.init.{topic}"
    for topic in ("splitmix64", "seeds", "schemes", "fans", "correctly_rounded", "rounding", "sampling")
]
# The numbers of expressions are computed on arrays; nothing that a check of sizes needs imports these.
MAY_IMPORT_NUMPY = ("shaped.spec.evaluation", "shaped.spec.scalars")
MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(name: str) -> str:
    """`static` for `shaped.static.check`; empty for `shaped` itself."""
    return name.split(".")[1] if "." in name else ""


def module_name(file: Path) -> str:
    """The dotted name of a module of the package."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(node: ast.AST) -> Iterator[str]:
    """The modules that a module imports when it runs, in functions too; imports for type checkers only are left out."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        for alternative in node.orelse:
            yield from imports(alternative)
    else:
        for child in ast.iter_child_nodes(node):
            yield from imports(child)


def test_imports_are_read_in_functions_but_not_where_they_are_for_type_checkers() -> None:
    text = "if TYPE_CHECKING:\n    import a\nelse:\n    import b\ndef f():\n    from c.d import e\n"
    assert list(imports(ast.parse(text))) == ["b", "c.d.e"]


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_an_import_never_goes_up(file: Path) -> None:
    name = module_name(file)
    own = part_of(name)
    for imported in imports(ast.parse(file.read_text(encoding="utf-8"))):
        if imported.split(".", 1)[0] != "shaped" or imported.startswith("shaped.__"):
            continue
        other = part_of(imported)
        if own == "":
            assert not other, f"{name} loads its names lazily, but imports {imported}"
        elif other and other != own:
            same_house = {own, other} <= {"mypy", "_mypy"}
            assert FLOOR[other] < FLOOR[own] or same_house, f"{name} is below {imported}, which it imports"


@pytest.mark.parametrize("file", MODULES, ids=module_name)
def test_only_the_run_time_side_imports_torch(file: Path) -> None:
    if part_of(module_name(file)) not in MAY_IMPORT_TORCH or module_name(file) in SPEC_OF_INITIALISERS:
        roots = {imported.split(".", 1)[0] for imported in imports(ast.parse(file.read_text(encoding="utf-8")))}
        forbidden = {"torch", "numpy", "jax", "jaxtyping"}
        if module_name(file).startswith(MAY_IMPORT_NUMPY):
            forbidden.remove("numpy")
        assert not roots & forbidden


def test_every_part_of_the_package_has_its_floor() -> None:
    parts = {entry.stem for entry in PACKAGE.iterdir() if entry.suffix == ".py" or any(entry.rglob("*.py"))}
    assert parts - {"__init__", "__pycache__"} <= set(FLOOR)


def test_importing_the_package_and_the_plugin_imports_no_torch() -> None:
    program = (
        "import sys, shaped, shaped.mypy, shaped.cli\n"
        "shaped.reveal_shape, shaped.Checker, shaped.Report, shaped.Diagnostic\n"
        "print(sorted({'torch', 'numpy', 'jaxtyping'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
