"""A run that kills its own process, without a chance to clean up, in the middle of an epoch: for test_resume."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch

from tests.trainers.fitting.runs import broken_off, run


def kill() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    # An epoch has 3 batches to train on and 3 to validate: this is the second batch of the third epoch.
    run(4, Path(sys.argv[1]), optimizer=torch.optim.Adam, wrap=lambda loss: broken_off(loss, after=13, break_off=kill))
