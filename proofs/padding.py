"""Padding, and patches of images as columns."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

p, q = map(Dim.name, "pq")

THEOREMS = [
    Theorem("pad", {"input": "b n", "pad": (1, 2)}),
    Theorem("pad", {"input": "b n", "pad": (p, q)}, note="any padding"),
    Theorem("pad", {"input": "b c n m", "pad": (1, 0, 2, 1), "value": 3}),
    Theorem("pad", {"input": "b 5", "pad": (-1, 2)}, note="negative padding crops"),
    Theorem("pad", {"input": "b c 4", "pad": (2, 1), "mode": "reflect"}),
    Theorem("pad", {"input": "b c n", "pad": (2, 1), "mode": "replicate"}),
    Theorem("pad", {"input": "b c 4", "pad": (2, 1), "mode": "circular"}),
    Theorem("functional.unfold", {"input": "b c h w", "kernel_size": (2, 3)}),
    Theorem("functional.unfold", {"input": "b c 5 6", "kernel_size": 2, "stride": 2, "padding": 1}),
    Theorem("functional.fold", {"input": "b 8 12", "output_size": (4, 5), "kernel_size": 2}),
]
