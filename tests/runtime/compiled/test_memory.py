"""Compiled steps keep no tensor and no graph: memory is flat however many there are."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Adam

from shaped.runtime import c_kernel, compile_forward, compile_step
from tests.runtime.compiled.training import perceptron

BACKENDS = ["python", "script", *(["c"] if c_kernel.load("int one(void) { return 1; }") else [])]


def tensors_alive() -> int:
    return sum(issubclass(type(each), Tensor) for each in gc.get_objects())


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tensor_is_kept_and_no_garbage_is_left(backend: str) -> None:
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    model = perceptron(4, 8, 1)
    step = compile_step(model, nn.MSELoss(), Adam(model.parameters()), (x, y), backend=backend)
    forward = compile_forward(model, (x,), backend=backend)
    step(x, y)
    forward(x)
    gc.collect()
    gc.disable()  # cycles would be kept until they are collected
    try:
        before = tensors_alive()
        for _ in range(50):
            step(x, y)
            forward(x)
        assert tensors_alive() == before
    finally:
        gc.enable()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the kernel does not say how much memory is held")
def test_memory_is_flat_over_400_000_steps() -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "benchmarks.compiled", "--only-memory", "--steps", "400000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    _, steps, before, after, alive, alive_after = done.stdout.split()
    assert int(steps) == 400_000
    # A tensor that each step would keep is 100 bytes at least, 40 MB over all; the allocator moves less than that.
    assert int(after) - int(before) < 5_000_000
    assert alive_after == alive
