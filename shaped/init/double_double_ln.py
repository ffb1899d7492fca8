"""`ln` on float64 tensors, correctly rounded, without a mathematical library.

`u = 2^e m`, m in [1, 2). One of 256 numbers c, of 11 bits, makes `m c = 1 + r` with |r| < 2^-8.6, and

    ln u = e ln 2 - ln c + r - r^2/2 + r^3 (1/3 - r/4 + ...).

`r = a + b` exactly, a a multiple of 2^-33, |b| at most 2^-23. The first parts of ln 2 and of the table's ln c are
multiples of 2^-42, so `e ln 2 - ln c + a` has no rounding error, nor has `a^2/2`; `b` is added without one. The rest is
below 2^-18 |r| near u = 1, where `e ln 2 - ln c` is 0 exactly, and below 2^-27 elsewhere, where |ln u| > 2^-9: with
its rounding errors of a few 2^-53, the sum is right to 2^-70 of its size.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from shaped.init import correctly_rounded as exactly
from shaped.init.double_double import DoubleDouble, correctly_rounded, fast_two_sum, two_sum

RELATIVE_ERROR = 2.0**-68  # four times the bound above
PRECISION = 200  # of the tables, in bits
CELL_BITS = 8
ZERO_EXPONENT = 1023
COEFFICIENTS = [(-1) ** (k + 1) / k for k in range(3, 9)]  # of r^k; the next term is below 2^-75 |r| near u = 1


def ln(u: Tensor) -> Tensor:
    """The float64 nearest to the natural logarithm of each number of (0, 1) in `u`, which are no subnormal ones."""
    return correctly_rounded(approximate_ln(u), RELATIVE_ERROR, u, exactly.ln)


def approximate_ln(u: Tensor) -> DoubleDouble:
    """`ln u` to `RELATIVE_ERROR`."""
    table = _table(u.device)
    bits = u.view(torch.int64)
    exponent = ((bits >> 52) - ZERO_EXPONENT).double()
    mantissa_bits = (bits & (2**52 - 1)) | (ZERO_EXPONENT << 52)
    cell = (bits >> (52 - CELL_BITS)) & (2**CELL_BITS - 1)
    scale = table.scale.index_select(0, cell)

    mantissa = mantissa_bits.view(torch.float64)
    mantissa_head = ((mantissa_bits + 2**29) & -(2**30)).view(torch.float64)
    a = mantissa_head * scale - 1
    b = (mantissa - mantissa_head) * scale
    r = a + b

    series = torch.full_like(r, COEFFICIENTS[-1])
    for coefficient in reversed(COEFFICIENTS[:-1]):
        series = series * r + coefficient
    square_and_b = two_sum(a * a * -0.5, b)
    rest = exponent * table.ln2_tail + table.tail.index_select(0, cell) - b * (a + b * 0.5) + r * r * r * series
    total = two_sum(exponent * table.ln2_head + table.head.index_select(0, cell) + a, square_and_b.high)
    return fast_two_sum(total.high, total.low + (square_and_b.low + rest))


class _Table(NamedTuple):
    """For each cell of mantissas: `scale` is c, `head + tail` is -ln c."""

    scale: Tensor
    head: Tensor
    tail: Tensor
    ln2_head: float
    ln2_tail: float


@cache
def _table(device: torch.device) -> _Table:
    cells = 2**CELL_BITS
    scales = [round(2**11 / (1 + (cell + 0.5) / cells)) / 2**11 for cell in range(cells)]
    # The cell below 2 is that of the numbers below 1, whose logarithm is that of 1 + r alone.
    scales[-1] = 0.5
    heads, tails = zip(*(_split(-exactly.ln_in_units(scale, PRECISION)) for scale in scales))
    scale, head, tail = (torch.tensor(part, dtype=torch.float64, device=device) for part in (scales, heads, tails))
    return _Table(scale, head, tail, *_split(exactly.ln2_in_units(PRECISION)))


def _split(number: int) -> tuple[float, float]:
    """A number in units of 2^-PRECISION as a multiple of 2^-42 and the rest."""
    head = number >> (PRECISION - 42)
    return head / 2**42, (number - (head << (PRECISION - 42))) / 2**PRECISION
