"""Tensors joined along an axis: the backward takes the parts."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("cat", {"tensors": ["b n", "b m"], "dim": 1}),
    Theorem("cat", {"tensors": ["n d", "m d", "2 d"], "dim": 0}),
    Theorem("stack", {"tensors": ["b n", "b n"], "dim": -1}),
    Theorem("stack", {"tensors": ["b n", "b n", "b n"], "dim": 0}),
]
