"""Functions of two numbers: extremes with ties, angles, sums of exponentials."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_FUNCTIONS = ["maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp", "xlogy"]

THEOREMS = [Theorem(name, {"input": x, "other": y}) for name in _FUNCTIONS for x, y in (("n m", "n m"), ("n m", "m"))]
