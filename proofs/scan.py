"""Running sums and products."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem(name, {"input": x, "dim": dim})
    for name in ("cumsum", "cumprod")
    for x, dim in (("n", 0), ("n m", 0), ("n m", -1), ("b n m", 1))
]
THEOREMS += [Theorem("logcumsumexp", {"input": "n m", "dim": dim}) for dim in (0, -1)]
