"""What a file costs does not grow with what it only names."""

from __future__ import annotations

from pathlib import Path

from shaped.static.check import Checker
from shaped.static.imports import MOST_TAKEN_WHOLE
from shaped.static.interpreter import Interpreter

NET = """
import torch
class Net(torch.nn.Module):
    def __init__(self, d: int):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(d, d) for _ in range(d)])
        self.first, self.second, self.third = torch.nn.Linear(d, d), torch.nn.Linear(d, d), torch.nn.Linear(d, d)
"""


def steps(folder: Path, source: str) -> int:
    counted: list[int] = []

    class Counting(Interpreter):
        def finish(self, source):  # type: ignore[no-untyped-def]  # as the method that it extends
            counted.append(self.all_steps)
            return super().finish(source)

    import shaped.static.check as check

    original, check.Interpreter = check.Interpreter, Counting  # type: ignore[misc, attr-defined]  # for this run
    try:
        Checker(show_traceback=True).check(folder / "nets.py", source)
    finally:
        check.Interpreter = original  # type: ignore[misc, attr-defined]  # as it was
    return counted[0]


def test_functions_that_only_pass_objects_on_do_not_make_them(tmp_path: Path) -> None:
    alone = steps(tmp_path, NET)
    passing = "".join(f"def get{i}(net: Net) -> Net:\n    return net\n" for i in range(20))
    assert steps(tmp_path, NET + passing) - alone <= 20 * 4


def test_a_package_that_takes_all_of_its_modules_is_not_read_as_a_whole(tmp_path: Path) -> None:
    package = tmp_path / "models"
    package.mkdir()
    (package / "__init__.py").write_text("".join(f"from .m{i} import *\n" for i in range(60)))
    for i in range(60):
        (package / f"m{i}.py").write_text(f"size{i} = {i}\n")
    read: list[Path] = []

    def reading(path: Path) -> str:
        read.append(path)
        return path.read_text()

    main = tmp_path / "main.py"
    main.write_text("from models import size0\nx = size0 + 1\n")
    Checker(read=reading).check(main)
    assert package / "m0.py" in read
    assert len(read) <= MOST_TAKEN_WHOLE + 2


def test_the_checked_file_takes_all_of_any_number_of_modules(tmp_path: Path) -> None:
    count = MOST_TAKEN_WHOLE + 4
    for i in range(count):
        (tmp_path / f"m{i}.py").write_text(f"size{i} = {i + 2}\n")
    source = "import torch\n" + "".join(f"from m{i} import *\n" for i in range(count))
    source += f"x = torch.zeros(1, 3) @ torch.zeros(size{count - 1}, 3)\n"
    faults = Checker(show_traceback=True).check(tmp_path / "main.py", source).diagnostics
    assert [fault.span.line for fault in faults] == [count + 2]
