"""How many inputs and outputs an element of a weight has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shaped.init.schemes import KaimingUniform, Scheme, SchemeError, Uniform, XavierUniform


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight or kernel of shape (out, in, k...): `in * prod k` and `out * prod k`.

    Raises:
        SchemeError: fewer than two axes.

    >>> fans([8, 3, 5, 5])
    (75, 200)
    """
    if len(shape) < 2:
        raise SchemeError(f"fans: the shape {tuple(shape)} has {len(shape)} axes: 2 or more (out, in, ...) are needed")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def with_fans(scheme: Scheme, shape: Sequence[int]) -> Scheme:
    """The scheme with the fans that it lacks, those of `shape`.

    >>> with_fans(KaimingUniform(), [8, 3])
    KaimingUniform(fan_in=3)
    """
    match scheme:
        case XavierUniform(fan_in=fan_in, fan_out=fan_out) if fan_in is None or fan_out is None:
            inputs, outputs = fans(shape)
            return XavierUniform(inputs if fan_in is None else fan_in, outputs if fan_out is None else fan_out)
        case KaimingUniform(fan_in=None):
            return KaimingUniform(fans(shape)[0])
    return scheme


def interval(scheme: Uniform | XavierUniform | KaimingUniform) -> tuple[float, float]:
    """(low, width) of a uniform scheme: an element is `low + u*width`. A fan of zero gives the limit 0.

    Raises:
        SchemeError: a fan that is not given.
    """
    match scheme:
        case Uniform(low=low, high=high):
            return float(low), float(high) - float(low)
        case XavierUniform(fan_in=int(fan_in), fan_out=int(fan_out)):
            fan = fan_in + fan_out
        case KaimingUniform(fan_in=int(fan_in)):
            fan = fan_in
        case _:
            raise SchemeError(f"{scheme}: a fan is missing: give it, or a shape to take it from")
    limit = math.sqrt(6 / fan) if fan else 0.0
    return -limit, 2 * limit
