"""What a type checker knows of a trainer: the lists of its loss, item by item."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import torch
from jaxtyping import Float, Int
from torch import Tensor
from shaped.runtime.tlist import TList
from shaped.trainers import ScalarTrainer

Params = TList[Float[Tensor, "8 2"], Float[Tensor, "8"]]
Inputs = TList[Float[Tensor, "2"]]

def loss(params: Params, inputs: Inputs) -> Tensor:
    return params[0].sum()

def labelled(params: Params, inputs: Inputs, nats: TList[Int[Tensor, ""]]) -> Tensor:
    return params[0].sum()

trainer: ScalarTrainer[Params, Inputs] = ScalarTrainer(loss)
weight, bias = trainer.params
weight, bias, more = trainer.params  # E: need more than 2 values to unpack|not enough|Need more than
ScalarTrainer(loss).forward_t(TList(weight))
ScalarTrainer(loss).forward_t(TList(weight, bias))  # E: Too many arguments
ScalarTrainer(labelled).backward_t(TList(weight), TList(bias))[2]  # E: Tuple index out of range
trainer.step(weight, lr="fast")  # E: Argument "lr"
"""


@pytest.mark.slow
def test_a_type_checker_follows_the_lists(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = dict(re.findall(r"program\.py:(\d+): error: (.*)", done.stdout))
    expected = {
        str(number): line.partition("# E: ")[2]
        for number, line in enumerate(PROGRAM.splitlines(), start=1)
        if "# E: " in line
    }
    assert found.keys() == expected.keys(), done.stdout
    for number, message in expected.items():
        assert re.search(message, found[number])
