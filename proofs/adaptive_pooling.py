"""Pooling to a given size."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

u = Dim.name("u")

THEOREMS = [
    Theorem("adaptive_avg_pool1d", {"input": "b c w", "output_size": 1}),
    Theorem("adaptive_avg_pool1d", {"input": "b c w", "output_size": u}, note="any two sizes"),
    Theorem("adaptive_avg_pool1d", {"input": "b c u*w", "output_size": u}),
    Theorem("adaptive_avg_pool2d", {"input": "b c h w", "output_size": 1}),
    Theorem("adaptive_avg_pool2d", {"input": "b c h w", "output_size": (u, 2)}),
    Theorem("adaptive_max_pool1d", {"input": "b c w", "output_size": 1}),
    Theorem("adaptive_max_pool1d", {"input": "b c w", "output_size": u}),
    Theorem("adaptive_max_pool1d", {"input": "b c u*w", "output_size": u}),
    Theorem("adaptive_max_pool2d", {"input": "b c h w", "output_size": 1}),
]
