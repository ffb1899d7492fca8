"""SplitMix64 visits every 64-bit number once: its steps are bijections, so their composition is one.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
"""

from __future__ import annotations

from shaped.init.splitmix64 import FIRST_MULTIPLIER, GAMMA, MASK, SECOND_MULTIPLIER
from shaped.verify.theorem import ComputedTheorem

BITS = 64
MULTIPLIERS = (FIRST_MULTIPLIER, SECOND_MULTIPLIER)
SHIFTS = (30, 27, 31)


def shifted(number: int, shift: int) -> int:
    """x xor (x >> shift)."""
    return number ^ (number >> shift)


def unshifted(number: int, shift: int) -> int:
    """The inverse of `shifted`: x xor (x >> shift) xor (x >> 2 shift) xor ..."""
    found = 0
    while number:
        found ^= number
        number >>= shift
    return found


def shifts_are_bijections() -> bool | str:
    """x xor (x >> s) is linear over GF(2), so an inverse on the 64 unit vectors is one on all numbers."""
    for shift in SHIFTS:
        for bit in range(BITS):
            if unshifted(shifted(1 << bit, shift), shift) != 1 << bit:
                return f"shift {shift} loses bit {bit}"
    return True


def multipliers_are_units() -> bool | str:
    """Multiplication by an odd number has an inverse modulo 2^64."""
    for multiplier in MULTIPLIERS:
        if multiplier % 2 == 0 or multiplier * pow(multiplier, -1, 2**BITS) & MASK != 1:
            return f"{multiplier:#x} has no inverse"
    return True


def states_return_after_all_numbers() -> bool | str:
    """Adding an odd number walks through all numbers modulo 2^64 before it returns."""
    return GAMMA % 2 == 1 or "the increment is even"


THEOREMS = [
    ComputedTheorem(
        "x -> x xor (x >> s) is a bijection of 64-bit numbers, s = 30, 27, 31",
        shifts_are_bijections,
        "linear over GF(2), and the inverse holds on the 64 unit vectors",
    ),
    ComputedTheorem(
        "x -> x * m mod 2^64 is a bijection for both multipliers of SplitMix64",
        multipliers_are_units,
        "m is odd, and m * m^-1 = 1",
    ),
    ComputedTheorem(
        "the states x, x + gamma, x + 2 gamma, ... mod 2^64 visit every number before one returns",
        states_return_after_all_numbers,
        "gamma is odd",
    ),
]
