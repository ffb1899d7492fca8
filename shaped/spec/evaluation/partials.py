"""The partial derivatives of a product and of the greatest value along an index, by the body at each place."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from shaped.spec.evaluation.grid import Grid, worst

if TYPE_CHECKING:
    from shaped.spec.evaluation.numbers import Numbers
    from shaped.spec.expr import Expr
    from shaped.spec.index import Index


def other_factors(numbers: Numbers, index: Index, body: Expr) -> Grid:
    """For each place of an index the product of the body at all other places."""
    whole, inside, axis = numbers.over(index, numbers(body))
    one = numbers.scalars.full((), numbers.scalars.constant_of(1))
    factors = np.moveaxis(np.where(inside, whole.data, one), axis, 0)
    count = factors.shape[0]
    before = [np.broadcast_to(one, factors.shape[1:])]
    behind = list(before)
    for place in range(count - 1):
        before.append(numbers.scalars.multiply(before[-1], factors[place]))
        behind.append(numbers.scalars.multiply(behind[-1], factors[count - 1 - place]))
    products = [numbers.scalars.multiply(before[place], behind[count - 1 - place]) for place in range(count)]
    data = np.moveaxis(np.stack(products), 0, axis) if products else whole.data
    # Kernels divide the whole product by the factor: one multiplication for each place, and a division.
    return numbers.grid(whole.axes, numbers.scalars.rounded(data, count + 2), whole.reasons, whole.infinite)


def shares(numbers: Numbers, index: Index, body: Expr) -> Grid:
    """For each place of an index its share in the gradient of the greatest value: 1, or less where several are."""
    whole, inside, axis = numbers.over(index, numbers(body))
    count = whole.data.shape[axis]
    values, within = np.moveaxis(whole.data, axis, 0), np.moveaxis(inside, axis, 0)
    levels = np.zeros(values.shape, np.int8)
    if whole.infinite is not None:
        levels = np.array(np.moveaxis(whole.infinite, axis, 0))
    minus = numbers.scalars.full((), numbers.scalars.constant_of(-1))
    is_less = np.zeros(values.shape, dtype=bool)
    unknown = np.zeros(values.shape, dtype=np.int8)
    for place in range(count):
        for rival in range(count):
            if rival == place:
                continue
            sign, reasons = numbers.scalars.sign(
                numbers.scalars.add(values[place, ...], numbers.scalars.multiply(values[rival, ...], minus))
            )
            finite = (levels[place] == 0) & (levels[rival] == 0)
            less = np.where(finite, sign < 0, levels[place] < levels[rival])
            if reasons is not None:
                unsure = np.where(finite & within[rival], reasons, np.int8(0))
                unknown[place] = np.maximum(unknown[place], unsure)
                less = less & (unsure == 0)
            is_less[place] |= less & within[rival]
    is_greatest = within & ~is_less
    unknown[~is_greatest] = 0
    number = np.maximum(is_greatest.sum(axis=0), 1)
    found = numbers.scalars.full(values.shape, numbers.scalars.constant_of(0))
    for at in np.ndindex(values.shape):
        if is_greatest[at]:
            found[at] = numbers.scalars.constant(Fraction(1, int(number[at[1:]])))
    reasons = np.moveaxis(unknown, 0, axis)
    return numbers.grid(whole.axes, np.moveaxis(found, 0, axis), worst(whole.reasons, reasons))
