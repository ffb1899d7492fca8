"""Seeds of the global random generators."""

from __future__ import annotations

import random
import sys

import torch


def seed_all(seed: int) -> None:
    """Seed the global generators of torch (on all devices), Python, and numpy where it is loaded.

    >>> seed_all(0)
    >>> first = torch.rand(1)
    >>> seed_all(0)
    >>> bool(torch.rand(1) == first)
    True
    """
    torch.manual_seed(seed % 2**64)  # as it takes a negative one
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)  # it takes no larger one
