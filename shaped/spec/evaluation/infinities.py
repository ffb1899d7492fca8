"""Infinities in sums, products, powers and functions.

Number systems have none, so a grid marks them beside its numbers: the 1 or -1 of a place says which infinity stands
there, and the number at that place is any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.evaluation.grid import because, masked, worst
from shaped.spec.scalars.system import Array, Reason, Reasons

if TYPE_CHECKING:
    from fractions import Fraction

    from shaped.spec.scalars.system import Scalars

Marked = tuple[Array, Reasons, Reasons]
"""Numbers, why there are none, and the infinities among them."""

# The limits of elementary functions at minus infinity and at infinity: a rational number, or an infinity.
_LIMITS: dict[str, tuple[int | float | None, int | float | None]] = {
    "exp": (0, float("inf")),
    "log": (None, float("inf")),
    "sinh": (float("-inf"), float("inf")),
    "cosh": (float("inf"), float("inf")),
    "tanh": (-1, 1),
    "asinh": (float("-inf"), float("inf")),
    "acosh": (None, float("inf")),
    "sigmoid": (0, 1),
    "erf": (-1, 1),
    "lgamma": (None, float("inf")),
    "digamma": (None, float("inf")),
    "abs": (float("inf"), float("inf")),
    "sign": (-1, 1),
    "floor": (float("-inf"), float("inf")),
    "round": (float("-inf"), float("inf")),
}


def infinity_in(value: object) -> int:
    """1 or -1 for a float that is infinite, 0 for any other number."""
    if not isinstance(value, float):
        return 0
    return 1 if value == float("inf") else -1 if value == float("-inf") else 0


def infinite_sum(signs: list[Array]) -> tuple[Reasons, Reasons]:
    """The infinity that a sum is, given those of its terms, and where they cancel."""
    if not signs:
        return None, None
    above, below = signs[0] > 0, signs[0] < 0
    for each in signs[1:]:
        above, below = above | (each > 0), below | (each < 0)
    joined = np.asarray(above, dtype=np.int8) - np.asarray(below, dtype=np.int8)
    return joined, because(Reason.INDETERMINATE, np.asarray(above & below))


def infinite_product(
    scalars: Scalars, left: Array, left_infinite: Reasons, right: Array, right_infinite: Reasons
) -> tuple[Reasons, Reasons]:
    """Where a product is infinite, and where it has no value as it is an infinity times 0."""
    if left_infinite is None and right_infinite is None:
        return None, None
    signs, found = [], []
    reasons: Reasons = None
    for data, infinite in ((left, left_infinite), (right, right_infinite)):
        sign, unknown = scalars.sign(data)
        if infinite is not None:
            sign, unknown = np.where(infinite != 0, infinite, sign), masked(unknown, infinite == 0)
            found.append(infinite != 0)
        signs.append(sign)
        reasons = worst(reasons, unknown)
    any_infinite = np.asarray(found[0] if len(found) == 1 else found[0] | found[1])
    sign = np.where(any_infinite, signs[0] * signs[1], 0).astype(np.int8)
    clash = because(Reason.INDETERMINATE, any_infinite & (sign == 0))
    return sign, worst(masked(reasons, any_infinite), clash)


def infinite_power(scalars: Scalars, power: tuple[Array, Reasons, Array], exponent: Fraction) -> Marked:
    """A power, with its values at the infinities of the base."""
    data, reasons, infinite = power
    is_infinite = np.asarray(infinite != 0)
    reasons = masked(reasons, ~is_infinite)
    if exponent < 0:
        return np.where(is_infinite, scalars.full((), scalars.constant_of(0)), data), reasons, None
    if exponent.denominator != 1:
        reasons = worst(reasons, because(Reason.ROOT, infinite < 0))
    even = exponent.denominator != 1 or exponent.numerator % 2 == 0
    return data, reasons, np.abs(infinite) if even else infinite


def infinite_value(scalars: Scalars, value: tuple[Array, Reasons, Array], function: str) -> Marked:
    """The values of an elementary function, with its limits at the infinities of the argument."""
    data, reasons, signs = value
    shape = np.broadcast_shapes(data.shape, signs.shape)
    infinite = np.zeros(shape, dtype=np.int8)
    data, reasons = np.array(np.broadcast_to(data, shape)), masked(reasons, signs == 0)
    for sign, limit in zip((-1, 1), _LIMITS.get(function, (None, None))):
        at = np.broadcast_to(signs == sign, shape)
        if limit is None:
            reasons = worst(reasons, because(Reason.DOMAIN, at))
        elif isinstance(limit, float):
            infinite[at] = 1 if limit > 0 else -1
        else:
            data[at] = scalars.constant_of(limit)
    return data, reasons, infinite
