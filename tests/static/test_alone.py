"""Faults that functions of other files have for all callers are said there, and nothing is made of what they give."""

from __future__ import annotations

from pathlib import Path

from shaped.static.check import Checker

LIBRARY = """
import torch
from jaxtyping import Float
from torch import Tensor
def texture(n: int) -> tuple[Float[Tensor, "n 2"], Float[Tensor, "n 2"]]:
    return torch.zeros(n, 2), torch.arange(2 * n).view(n, 2)
def product(x: Float[Tensor, "b d"], y):
    return x @ y
class Layer:
    def forward(self, x: Float[Tensor, "b 3"]):
        return x @ torch.zeros(4, 5)
"""


def errors_of(folder: Path, source: str) -> list[str]:
    """What is wrong in a module beside `LIBRARY`."""
    (folder / "library.py").write_text(LIBRARY, encoding="utf-8")
    report = Checker(show_traceback=True).check(folder / "user.py", f"import torch\nfrom library import *\n{source}")
    return [diagnostic.message for diagnostic in report.diagnostics]


def test_what_is_wrong_for_all_callers_is_not_said_to_each(tmp_path: Path) -> None:
    assert errors_of(tmp_path, "def use(): return Layer().forward(torch.zeros(2, 3))") == []
    assert errors_of(tmp_path, "def use(n: int): return texture(n)") == []


def test_nothing_is_made_of_a_result_that_is_not_what_it_is_said_to_be(tmp_path: Path) -> None:
    source = """
def use(n: int):
    coordinates, indices = texture(n)
    return torch.zeros(3, 2)[indices], coordinates @ torch.zeros(3, 2)
"""
    assert errors_of(tmp_path, source) == []


def test_what_is_wrong_for_this_caller_is_said(tmp_path: Path) -> None:
    (found,) = errors_of(tmp_path, "def use(): return product(torch.zeros(2, 3), torch.zeros(4, 5))")
    assert found == "matmul: (2, 3) @ (4, 5): inner dimensions 3 and 4 differ"
