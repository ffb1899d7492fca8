"""A run that kills its own process, without a chance to clean up, in the middle of an epoch: for test_resume."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from tests.trainers.fitting.runs import run


def killing(loss: Any, after: int) -> Any:
    """The loss, which kills the process when it is asked for after so many calls."""
    calls = 0

    def counted(model: Any, batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            os.kill(os.getpid(), signal.SIGKILL)
        return loss(model, batch)

    return counted


if __name__ == "__main__":
    # An epoch has 3 batches to train on and 3 to validate: this is the second batch of the third epoch.
    run(4, Path(sys.argv[1]), optimizer=torch.optim.Adam, wrap=lambda loss: killing(loss, after=13))
