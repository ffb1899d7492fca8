"""What an initialiser's element is: `sample_at`, the specification that all other renderings equal bit for bit.

Every operation is one of IEEE 754's or correctly rounded, so the value is the same on every machine.
"""

from __future__ import annotations

import math

from shaped.init.correctly_rounded import cos, ln
from shaped.init.fans import interval
from shaped.init.schemes import (
    KaimingUniform,
    Normal,
    NormalMode,
    Ones,
    Scheme,
    Uniform,
    XavierUniform,
    Zeros,
    valid_int,
    valid_scheme,
)
from shaped.init.splitmix64 import low_bits, rand01, splitmix64

TWO_PI = 6.283185307179586
# A number of 32 bits and one, over this, is in (0, 1).
DIVISOR = 4294967297.0
LEAST_CLAMPED = 1e-6


def sample_at(scheme: Scheme, seed: int, index: int) -> float:
    """The element at row-major position `index` of a tensor drawn from `scheme` with `seed`, in float64.

    Args:
        scheme: with its fans, if it has any: see `with_fans`.
        seed: any int, modulo 2^64.
        index: the positions of the stream that it reads are modulo 2^64.

    Raises:
        SchemeError: a fan that is not given, an argument of another type.

    >>> sample_at(Uniform(-1, 1), 0, 0), sample_at(Normal(), 0, 0)
    (-0.3976594884879887, -0.6202166976529297)
    """
    scheme, seed, index = valid_scheme("scheme", scheme), valid_int("seed", seed), valid_int("index", index)
    match scheme:
        case Zeros():
            return 0.0
        case Ones():
            return 1.0
        case Uniform() | XavierUniform() | KaimingUniform():
            low, width = interval(scheme)
            return low + rand01(seed, index) * width
        case Normal(mean=mean, std=std, mode=mode):
            radius = math.sqrt(-2.0 * ln(radial_number(mode, seed, index)))
            return float(mean) + float(std) * radius * cos(TWO_PI * rand01(seed, 2 * index + 1))


def radial_number(mode: NormalMode, seed: int, index: int) -> float:
    """The number in (0, 1) that makes the radius of Box and Muller's pair: `u1` of element `index`.

    >>> radial_number("mixed", 0, 0), radial_number("clamped", 0, 0)
    (0.3011702559187146, 0.30117025575600564)
    """
    match mode:
        case "mixed":
            return (low_bits(seed, 2 * index) + 1) / DIVISOR
        case "clamped":
            return max(rand01(seed, 2 * index), LEAST_CLAMPED)
        case "unmixed":
            return ((splitmix64(splitmix64(seed)) + 2 * index) % 2**32 + 1) / DIVISOR
