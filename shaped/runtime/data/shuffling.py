"""Orders that depend on a seed and an epoch alone: the same on every machine, device and version of torch.

`torch.randperm` promises no such thing. Each position is given 64 random bits, and the positions are sorted by them;
these are integers, so nothing is rounded.
"""

from __future__ import annotations

import torch
from jaxtyping import Int64
from torch import Tensor

from shaped.runtime.arguments import require_whole
from shaped.spec.splitmix64 import FIRST_MULTIPLIER, GAMMA, SECOND_MULTIPLIER


def shuffled(count: int, seed: int, epoch: int = 0) -> Int64[Tensor, "{count}"]:
    """The numbers from 0 to `count - 1` in random order, on the CPU.

    Args:
        seed: any whole number; its last 64 bits count.
        epoch: chooses another order of the same seed. Neighbouring seeds and epochs share nothing.

    >>> shuffled(6, seed=0).tolist(), shuffled(6, seed=0, epoch=1).tolist()
    ([2, 5, 3, 4, 0, 1], [0, 1, 3, 4, 5, 2])
    """
    # The stream of an epoch begins at a number mixed from both: seed + 1 is not the next epoch of seed.
    seed_bits = _mixed(torch.tensor(_as_int64(require_whole("seed", seed))))
    start = _mixed(seed_bits + _as_int64(require_whole("epoch", epoch)))
    # Equal bits, once in 2^65 / count^2 orders, leave two positions as they were: the sort is stable.
    return torch.argsort(_mixed(torch.arange(count) + start), stable=True)


def _mixed(words: Tensor) -> Tensor:
    """SplitMix64 of each int64. Their sums and products wrap, so they are those of 64-bit words."""
    words = words + _as_int64(GAMMA)
    words = _xor_shifted(words, 30).mul(_as_int64(FIRST_MULTIPLIER))
    words = _xor_shifted(words, 27).mul(_as_int64(SECOND_MULTIPLIER))
    return _xor_shifted(words, 31)


def _xor_shifted(words: Tensor, shift: int) -> Tensor:
    """`words ^ (words >> shift)` on unsigned words. An int64's shift draws in its sign, which the mask takes away."""
    return words.bitwise_xor((words >> shift) & (2 ** (64 - shift) - 1))


def _as_int64(value: int) -> int:
    """The int64 with the last 64 bits of a number."""
    return (value + 2**63) % 2**64 - 2**63
