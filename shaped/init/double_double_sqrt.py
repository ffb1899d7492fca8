"""`sqrt` on float64 tensors, correctly rounded.

torch's is not everywhere: on a CPU it may be a vector library's, and Intel's rounds one root in eighty the wrong way.
With s that root, `sqrt a = s + (a - s^2)/(2 s)`, but for a square of its error. `a - s^2` has one rounding error, the
last but one: s is split into parts of 26 and 27 bits, whose products are exact but for that of the second with itself.
"""

from __future__ import annotations

import math

from torch import Tensor

from shaped.init.double_double import DoubleDouble, correctly_rounded, leading_bits

# Where torch's root is right to 2^-50, the square of its error is below 2^-100.
RELATIVE_ERROR = 2.0**-98


def sqrt(a: Tensor) -> Tensor:
    """The float64 nearest to the square root of each number in `a`, between 2^-900 and 2^900."""
    return correctly_rounded(approximate_sqrt(a), RELATIVE_ERROR, a, math.sqrt)


def approximate_sqrt(a: Tensor) -> DoubleDouble:
    """`sqrt a` to `RELATIVE_ERROR`."""
    root = a.sqrt()
    head = leading_bits(root, 26)
    tail = root - head
    remainder = a - head * head - 2 * head * tail - tail * tail
    return DoubleDouble(root, remainder / (2 * root))
