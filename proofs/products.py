"""The cross product."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("linalg.cross", {"input": "n 3", "other": "n 3"}),
    Theorem("linalg.cross", {"input": "3 n", "other": "3 n", "dim": 0}),
]
