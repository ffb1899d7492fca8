"""What changes no number, and what uses the shape alone."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [Theorem(name, {"input": "n m"}) for name in ("clone", "contiguous", "cpu")]
