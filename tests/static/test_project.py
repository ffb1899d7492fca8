"""Many files: memory does not grow with their number, and what is found is the same with any number of processes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from shaped.codes import DEFAULT_CODES
from shaped.static import project
from shaped.static.project import Project, Task
from shaped.static.trees import Trees

LAYERS = """\
import torch
from torch import nn


class Block{0}(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.project = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, d = x.shape
        y = self.norm(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        return x + self.project(y.transpose(1, 2).reshape(b, t, d))
"""
MODEL = """\
from layers{0} import Block{0}
import torch

blocks = [Block{0}(64, 8) for _ in range(3)]
x = torch.zeros(2, 16, 64)
for block in blocks:
    x = block(x)
y = x @ torch.zeros({1}, 5)
"""


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Files of which each imports one other; every third is wrong."""
    monkeypatch.chdir(tmp_path)
    for number in range(24):
        Path(f"layers{number}.py").write_text(LAYERS.format(number))
        Path(f"model{number}.py").write_text(MODEL.format(number, 63 if number % 3 == 0 else 64))
    return [Task(path, DEFAULT_CODES) for path in sorted(Path().glob("*.py"))]


@pytest.mark.parametrize("jobs", [1, 2, 3, 0])
def test_any_number_of_processes_finds_the_same_in_the_same_order(tasks: list[Task], jobs: int) -> None:
    reports = list(Project(jobs, uses_cache=False).check(tasks))
    assert [checked.report.path for checked in reports] == [str(task.path) for task in tasks]
    wrong = [checked.report.path for checked in reports if checked.report.diagnostics]
    assert wrong == sorted(f"model{number}.py" for number in range(0, 24, 3))


def test_memory_does_not_grow_with_the_number_of_files(tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "_MOST_LEFT_BEHIND", 2_000)
    monkeypatch.setattr(Trees.__init__, "__defaults__", (3_000,))
    tracemalloc.start()
    try:
        held = []
        for checked in Project(1, uses_cache=False).check(tasks):
            held.append(tracemalloc.get_traced_memory()[0])
            del checked
    finally:
        tracemalloc.stop()
    third = len(held) // 3
    # What is kept for each file is that it was seen, about 2 kB.
    assert max(held[2 * third :]) < 1.2 * max(held[third : 2 * third])
