"""Axes stretched and elements repeated: the backward sums."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

b, n, r = map(Dim.name, "bnr")

THEOREMS = [
    Theorem("expand", {"input": "1 n 1", "size": (b, -1, r)}),
    Theorem("expand", {"input": "n 1", "size": (b, n, r)}, note="a new axis in front"),
    Theorem("expand_as", {"input": "1 m", "other": "b n m"}),
    Theorem("broadcast_to", {"input": "n 1", "size": (b, n, r)}),
    Theorem("repeat", {"input": "n m", "repeats": (r, 2, 1)}),
    Theorem("tile", {"input": "n m", "dims": (r,)}),
    Theorem("repeat_interleave", {"input": "n m", "repeats": r, "dim": 1}),
    Theorem("repeat_interleave", {"input": "n m", "repeats": 3}),
]
