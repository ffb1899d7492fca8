"""Norms of vectors, of any order."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_INFINITY = float("inf")
_ORDERS = (2, 1, 3, 4, 1.5, -1, 0, _INFINITY, -_INFINITY)

THEOREMS = [Theorem("linalg.vector_norm", {"x": "n m", "ord": order, "dim": -1}) for order in _ORDERS]
THEOREMS += [
    Theorem("linalg.vector_norm", {"x": "n m"}),
    Theorem("linalg.vector_norm", {"x": "n m k", "ord": 2, "dim": (0, 2), "keepdim": True}),
    Theorem("linalg.vector_norm", {"x": "complex: n m", "ord": 2, "dim": 1}),
    Theorem("norm", {"input": "n m"}),
    Theorem("norm", {"input": "n m", "p": 1, "dim": 0}),
    Theorem("norm", {"input": "n m", "p": 2, "dim": -1, "keepdim": True}),
]
