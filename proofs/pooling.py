"""Pooling over windows. The greatest entry of a window is taken to be one: its ties are a kink."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

s, p, k = map(Dim.name, "spk")

THEOREMS = [
    Theorem("avg_pool1d", {"input": "b c w", "kernel_size": 2}),
    Theorem("avg_pool1d", {"input": "b c w", "kernel_size": k, "stride": s}),
    Theorem("avg_pool1d", {"input": "b c w", "kernel_size": 3, "stride": 2, "padding": 1}),
    Theorem("avg_pool1d", {"input": "b c w", "kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
    Theorem("avg_pool1d", {"input": "b c 8", "kernel_size": 3, "ceil_mode": True}),
    Theorem("avg_pool2d", {"input": "b c h w", "kernel_size": 2}),
    Theorem("avg_pool2d", {"input": "b c h w", "kernel_size": 3, "stride": 1, "divisor_override": 2}),
    Theorem("avg_pool3d", {"input": "b c f h w", "kernel_size": 2}),
    Theorem("max_pool1d", {"input": "b c w", "kernel_size": 2}),
    Theorem("max_pool1d", {"input": "b c w", "kernel_size": k, "stride": s}),
    Theorem("max_pool1d", {"input": "b c w", "kernel_size": 3, "stride": 2, "padding": 1}),
    Theorem("max_pool2d", {"input": "b c h w", "kernel_size": 2}),
]
