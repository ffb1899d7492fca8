"""Runs of two processes under torchrun, and what they came to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[3]
# A sum over a batch is one over its two halves here, in another order of additions: half a unit in the last place of
# float32 (6e-8) for values of about 1, a few of which add up over the updates. A wrong weight of a batch is 1e-2.
TOLERANCE = 2e-6


def torchrun(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Two processes on this machine, killed with their launcher after two minutes."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", module]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    launched = subprocess.Popen(
        [*launcher, *arguments],
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = launched.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        launched.terminate()  # the launcher ends its processes
        launched.wait(30)
        raise
    return subprocess.CompletedProcess(launched.args, launched.returncode, output, errors)


def measured(result: dict[str, Any]) -> list[float]:
    """All that the history of a run has, as numbers."""
    return [
        float(value)
        for epoch in result["history"]
        for part in (epoch["training"], epoch["validation"], {"step": epoch["step"], "skipped": epoch["skipped"]})
        for value in part.values()
    ]
