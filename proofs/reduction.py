"""Sums, means, extremes, products and deviations over some or all axes."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_CALLS: list[dict[str, object]] = [
    {"input": "n m"},
    {"input": "n m", "dim": -1},
    {"input": "n m", "dim": 0, "keepdim": True},
    {"input": "n m k", "dim": (0, 2)},
    {"input": "n m k", "dim": (1, 2), "keepdim": True},
]
_ONE_AXIS = [call for call in _CALLS if not isinstance(call.get("dim"), tuple)]
_GIVEN_AXIS = [call for call in _CALLS if "dim" in call]

THEOREMS = [Theorem(name, call) for name in ["sum", "mean", "amax", "amin", "var", "std"] for call in _CALLS]
THEOREMS += [Theorem("logsumexp", call) for call in _GIVEN_AXIS]
THEOREMS += [Theorem("prod", call) for call in _ONE_AXIS]
THEOREMS += [Theorem(name, {"input": "n m", "dim": 1, "correction": 0}) for name in ("var", "std")]
THEOREMS += [Theorem(name, {"input": "n m", "dim": 1, "unbiased": False}) for name in ("var", "std")]
THEOREMS += [Theorem(name, {"input": "complex: n m", "dim": 1}) for name in ("sum", "mean")]
