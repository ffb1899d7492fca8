"""Softmax and log-softmax along any axis."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_CALLS = [("b c", -1), ("b c", 0), ("b c h w", 1), ("n", 0)]

THEOREMS = [Theorem(name, {"input": x, "dim": d}) for name in ("softmax", "log_softmax") for x, d in _CALLS]
THEOREMS += [Theorem(f"nn.functional.{name}", {"input": "b c", "dim": -1}) for name in ("softmax", "log_softmax")]
THEOREMS += [Theorem("nn.functional.softmin", {"input": "b c", "dim": -1})]
