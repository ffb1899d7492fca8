"""`cos` on float64 tensors, correctly rounded, without a mathematical library.

`y = k pi/1024 + t`, |t| < 2^-9.3, and with `S`, `C` the sine and cosine of `k pi/1024`

    cos y = C - S t - (S (sin t - t) + C (1 - cos t)).

`t` is known to 2^-130, by a pi/1024 of three parts whose first two have exact products with k. The product of the first
26 bits of S and of t is exact and is added to C without a rounding error. The rest is below 2^-19.6 C + 2^-30; with its
rounding errors of a few 2^-53, and those of the parts of S t that are below 2^-34, the sum is right to 2^-69 of its
size: where C is not 0, |cos y| > |C|/2, and where it is 0 (k is 512 or 1536), S is 1 or -1 and cos y is
`-S sin t`, without cancellation.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from shaped.init import correctly_rounded as exactly
from shaped.init.double_double import DoubleDouble, correctly_rounded, fast_two_sum, leading_bits, two_sum

RELATIVE_ERROR = 2.0**-68  # twice the bound above
PRECISION = 200  # of the tables, in bits
HALF_TURN = 1024  # steps


def cos(y: Tensor) -> Tensor:
    """The float64 nearest to the cosine of each number of [0, 2 pi] in `y`."""
    return correctly_rounded(approximate_cos(y), RELATIVE_ERROR, y, exactly.cos)


def approximate_cos(y: Tensor) -> DoubleDouble:
    """`cos y` to `RELATIVE_ERROR`."""
    table = _table(y.device)
    first, second, third = table.step
    steps = (y * (1 / first)).round()
    reduced = two_sum(y - steps * first, -(steps * second))
    t, t_tail = reduced.high, reduced.low - steps * third
    t_head = leading_bits(t, 26)
    t_tail = (t - t_head) + t_tail

    index = steps.long()
    sine_head, sine_tail, cosine_head, cosine_tail = (column.index_select(0, index) for column in table.columns)
    square = t * t
    sine_of_t_less_t = t * square * (-1 / 6 + square * (1 / 120 - square * (1 / 5040)))
    one_less_cosine_of_t = square * (0.5 - square * (1 / 24 - square * (1 / 720)))

    product_tail = sine_head * t_tail + sine_tail * t
    rest = product_tail + (sine_head + sine_tail) * sine_of_t_less_t + cosine_head * one_less_cosine_of_t - cosine_tail
    total = two_sum(cosine_head, -(sine_head * t_head))
    return fast_two_sum(total.high, total.low - rest)


class _Table(NamedTuple):
    """The sine's head and tail and the cosine's, of all steps of a turn; a step, pi/1024, in three parts."""

    columns: tuple[Tensor, Tensor, Tensor, Tensor]
    step: tuple[float, float, float]


@cache
def _table(device: torch.device) -> _Table:
    circle = [_sine_and_cosine(k) for k in range(2 * HALF_TURN + 1)]
    # Sine and cosine, each the head of all, then the tail.
    parts = [*zip(*(_split(sine, 26) for sine, _ in circle)), *zip(*(_split(cosine, 53) for _, cosine in circle))]
    sine_head, sine_tail, cosine_head, cosine_tail = (
        torch.tensor(part, dtype=torch.float64, device=device) for part in parts
    )
    # The products of the first two with a number of steps, of 11 bits, are exact.
    first, rest = _split_off(exactly.pi_in_units(PRECISION) // HALF_TURN, 50)
    second, rest = _split_off(rest, 92)
    return _Table((sine_head, sine_tail, cosine_head, cosine_tail), (first, second, rest / 2**PRECISION))


def _sine_and_cosine(k: int) -> tuple[int, int]:
    """Sine and cosine of `k pi/1024`, in units of 2^-PRECISION, from those of the first half of a quarter turn."""
    quarter = HALF_TURN // 2
    turns, within = divmod(k, quarter)
    angle = exactly.pi_in_units(PRECISION) * min(within, quarter - within) // HALF_TURN
    sine, cosine = exactly.sine_and_cosine_in_units(angle, PRECISION)
    if within > quarter - within:
        sine, cosine = cosine, sine
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[turns % 4]


def _split(number: int, bits: int) -> tuple[float, float]:
    """A number in units of 2^-PRECISION as its nearest multiple of 2^-bits, or float64, and the rest."""
    head = round(number / 2 ** (PRECISION - bits)) / 2**bits if bits < 53 else number / 2**PRECISION
    numerator, denominator = head.as_integer_ratio()
    return head, (number - (numerator << PRECISION) // denominator) / 2**PRECISION


def _split_off(number: int, bits: int) -> tuple[float, int]:
    """A positive number in units of 2^-PRECISION as a multiple of 2^-bits and the rest, in those units."""
    head = number >> (PRECISION - bits)
    return head / 2**bits, number - (head << (PRECISION - bits))
