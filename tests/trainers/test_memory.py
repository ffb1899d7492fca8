"""Steps keep no tensor: memory is flat however many there are."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from shaped.trainers import ScalarTrainer
from tests.trainers.quickstart import SAMPLES, adam, loss

KINDS: dict[str, Any] = {"sgd": {}, "adam": {"optimizer": adam}, "frozen": {"trainable": [True, False, True, False]}}


def tensors_alive() -> int:
    return sum(issubclass(type(each), Tensor) for each in gc.get_objects())


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_no_tensor_is_kept_and_no_garbage_is_left(options: Any) -> None:
    of = ScalarTrainer(loss, **options)
    rate = {} if "optimizer" in options else {"lr": 0.01}
    samples = [(torch.tensor(x), torch.tensor(y)) for x, y in SAMPLES]
    of.step(*samples[0], **rate)
    gc.collect()
    gc.disable()  # cycles would be kept until they are collected
    try:
        before = tensors_alive()
        for _ in range(4):
            for sample in samples:
                of.step_with_loss(*sample, **rate)
                of.loss_and_backward(*sample)
                of.forward(*sample)
        assert tensors_alive() == before
    finally:
        gc.enable()


def test_shapes_that_are_remembered_are_bounded() -> None:
    from shaped.trainers import inputs

    of = ScalarTrainer(lambda params, inputs: (params[0] * inputs[0]).sum(), [()], [("n",)])
    for n in range(40):
        of.forward(torch.ones(n))
    assert len(of._inputs._right) == 40
    assert inputs._MOST_REMEMBERED < 10_000


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the kernel does not say how much memory is held")
def test_memory_is_flat_over_100_000_steps() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "benchmarks.trainer", "--only-memory", "--steps", "100000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    steps, before, after, alive, alive_after = map(int, done.stdout.split())
    assert steps == 100_000
    # A tensor that each step would keep is 100 bytes at least, 10 MB over all; the allocator moves less than that.
    assert after - before < 5_000_000
    assert alive_after == alive
