"""`sqrt` on float64 tensors, correctly rounded.

torch's is not everywhere: on a CPU it may be a vector library's, and Intel's rounds one root in eighty the wrong way.
With s that root, `sqrt a = s + (a - s^2)/(2 s)`, but for a square of its error. `a - s^2` has one rounding error, the
last: s is split into two parts of 26 bits, whose products are exact.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from shaped.init.double_double import DoubleDouble, correctly_rounded

# Where torch's root is right to 2^-50, the square of its error is below 2^-100.
RELATIVE_ERROR = 2.0**-98


def sqrt(a: Tensor) -> Tensor:
    """The float64 nearest to the square root of each number in `a`, between 2^-900 and 2^900."""
    return correctly_rounded(approximate_sqrt(a), RELATIVE_ERROR, a, math.sqrt)


def approximate_sqrt(a: Tensor) -> DoubleDouble:
    """`sqrt a` to `RELATIVE_ERROR`."""
    root = a.sqrt()
    head = ((root.view(torch.int64) + 2**26) & -(2**27)).view(torch.float64)
    tail = root - head
    remainder = a - head * head - 2 * head * tail - tail * tail
    return DoubleDouble(root, remainder / (2 * root))
