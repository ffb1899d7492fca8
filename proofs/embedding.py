"""Rows of a table, looked up."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("embedding", {"input": "int: b t < v", "weight": "v d"}),
    Theorem("embedding", {"input": "int: n < v", "weight": "v d"}),
    Theorem("embedding", {"input": "int: < v", "weight": "v d"}),
]
