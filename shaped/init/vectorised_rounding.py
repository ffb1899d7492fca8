"""Float64 tensors rounded once to a narrower dtype."""

from __future__ import annotations

import torch
from torch import Tensor

from shaped.init.rounding import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Format

FORMATS: dict[torch.dtype, Format] = {
    torch.float64: FLOAT64,
    torch.float32: FLOAT32,
    torch.float16: FLOAT16,
    torch.bfloat16: BFLOAT16,
}
# The integers of a dtype's width, to compare its bits: 0 and -0 are equal as numbers.
BITS: dict[torch.dtype, torch.dtype] = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}


def round_into(out: Tensor, values: Tensor) -> None:
    """Write `values`, in float64, into `out`, rounded once.

    torch converts to the two 16-bit dtypes by way of float32, so it rounds twice: 1 + 2^-8 + 2^-40 becomes 1 + 2^-8 in
    float32, a tie in bfloat16, which goes to 1 in place of 1 + 2^-7.
    """
    if out.dtype in (torch.float64, torch.float32):
        out.copy_(values)
    else:
        out.copy_(_rounded_to_odd(values))


def _rounded_to_odd(values: Tensor) -> Tensor:
    """The float32 next to each value, the one with an odd last bit if it is inexact: rounding it again is harmless.

    Source: Boldo, Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd"
    (2008), theorem 1: a format with two more digits suffices.
    """
    nearest = values.float()
    exact = nearest.double()
    bits = nearest.view(torch.int32)
    # Towards zero, then the last bit set: a float's magnitude counts up with its bits.
    bits -= (exact.abs() > values.abs()).int()
    bits |= (exact != values).int()
    return nearest
