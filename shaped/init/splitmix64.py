"""SplitMix64 as a function of a position: the random bits of element i never need those of element i - 1.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). All arithmetic is modulo 2^64.
"""

from __future__ import annotations

from shaped.init.schemes import valid_int
from shaped.spec.splitmix64 import FIRST_MULTIPLIER, GAMMA, SECOND_MULTIPLIER

MASK = 2**64 - 1


def splitmix64(x: int) -> int:
    """The 64 mixed bits of `x`, a bijection of 64-bit numbers.

    >>> hex(splitmix64(0))
    '0xe220a8397b1dcdaf'
    """
    z = (valid_int("x", x) + GAMMA) & MASK
    z = ((z ^ (z >> 30)) * FIRST_MULTIPLIER) & MASK
    z = ((z ^ (z >> 27)) * SECOND_MULTIPLIER) & MASK
    return z ^ (z >> 31)


def low_bits(seed: int, index: int) -> int:
    """The 32 random bits at position `index` of the stream of `seed`.

    >>> low_bits(0, 0)
    1293516399
    """
    return splitmix64(splitmix64(valid_int("seed", seed)) + valid_int("index", index)) & 0xFFFFFFFF


def rand01(seed: int, index: int) -> float:
    """The number in [0, 1) at position `index` of the stream of `seed`, a multiple of 2^-32.

    >>> rand01(0, 0)
    0.30117025575600564
    """
    return low_bits(seed, index) / 2**32
