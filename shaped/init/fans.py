"""How many inputs and outputs an element of a weight has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shaped.init.schemes import KaimingUniform, Scheme, SchemeError, Uniform, XavierUniform, valid_int


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight or kernel of shape (out, in, k...): `in * prod k` and `out * prod k`.

    Raises:
        SchemeError: fewer than two axes.

    >>> fans([8, 3, 5, 5])
    (75, 200)
    """
    sizes = valid_shape("fans", shape)
    if len(sizes) < 2:
        axes = "1 axis" if sizes else "no axes"
        raise SchemeError(f"fans: the shape {sizes} has {axes}: 2 or more (out, in, ...) are needed")
    window = math.prod(sizes[2:])
    return sizes[1] * window, sizes[0] * window


def valid_shape(operation: str, shape: object) -> tuple[int, ...]:
    """The sizes of a shape, ints of 0 or more; `operation` begins the error.

    >>> valid_shape("tensor", (2, -1))
    Traceback (most recent call last):
    shaped.init.schemes.SchemeError: tensor: shape is (2, -1): a sequence of ints of 0 or more is needed
    """
    if isinstance(shape, Sequence) and not isinstance(shape, str):
        try:
            sizes = tuple(valid_int("a size", size) for size in shape)
        except SchemeError:
            pass
        else:
            if all(size >= 0 for size in sizes):
                return sizes
    raise SchemeError(f"{operation}: shape is {shape!r}: a sequence of ints of 0 or more is needed")


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
