"""Determinants and inverses of small matrices."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [Theorem(f"linalg.{name}", {"A": f"b {size} {size}"}) for name in ("det", "inv") for size in (2, 3)]
