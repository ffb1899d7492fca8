"""SplitMix64 on int64 tensors: the random bits of evenly spaced positions of a stream."""

from __future__ import annotations

import torch
from torch import Tensor

from shaped.init.splitmix64 import splitmix64
from shaped.spec.splitmix64 import FIRST_MULTIPLIER, GAMMA, SECOND_MULTIPLIER

_LOW_32 = 2**32 - 1


def as_int64(x: int) -> int:
    """The int64 with the low 64 bits of `x`: torch's int64 operations wrap, so they are those of 64-bit words.

    >>> as_int64(2**64 - 1)
    -1
    """
    return (x + 2**63) % 2**64 - 2**63


class Stream:
    """The positions `first, first + step, first + 2*step, ...` of a seed's stream, up to `size` of them at a time.

    Its tensors are reused from call to call: a stream belongs to one thread.
    """

    def __init__(self, seed: int, step: int, size: int, device: torch.device) -> None:
        self._key = splitmix64(seed)
        self._positions = torch.arange(0, step * size, step, dtype=torch.int64, device=device)
        self._words = torch.empty_like(self._positions)
        self._shifted = torch.empty_like(self._positions)

    def low_bits_into(self, out: Tensor, first: int) -> None:
        """Write the 32 random bits of the positions from `first` on into a float64 tensor: `low_bits`."""
        words, shifted = self._words[: out.numel()], self._shifted[: out.numel()]
        torch.add(self._positions[: out.numel()], as_int64(self._key + GAMMA + first), out=words)
        _xor_with_shifted(words, 30, shifted)
        words.mul_(as_int64(FIRST_MULTIPLIER))
        _xor_with_shifted(words, 27, shifted)
        words.mul_(as_int64(SECOND_MULTIPLIER))
        # Only the low half is wanted, which the sign that an int64's shift draws in does not reach.
        torch.bitwise_right_shift(words, 31, out=shifted)
        words.bitwise_xor_(shifted).bitwise_and_(_LOW_32)
        out.copy_(words)

    def unmixed_low_bits_into(self, out: Tensor, first: int) -> None:
        """Write the low 32 bits of `splitmix64(key) + position`, the defect of `Normal(mode="unmixed")`."""
        words = self._words[: out.numel()]
        torch.add(self._positions[: out.numel()], as_int64(splitmix64(self._key) + first), out=words)
        out.copy_(words.bitwise_and_(_LOW_32))


def _xor_with_shifted(words: Tensor, shift: int, shifted: Tensor) -> None:
    """`words ^= words >> shift` on unsigned words. An int64's shift draws in its sign, which the mask takes away."""
    torch.bitwise_right_shift(words, shift, out=shifted)
    words.bitwise_xor_(shifted.bitwise_and_(2 ** (64 - shift) - 1))
