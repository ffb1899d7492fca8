"""Losses over classes: indices that may be ignored, weights, smoothed labels, probabilities as targets."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_REDUCTIONS = ("mean", "sum", "none")
_INDICES = {"input": "b c", "target": "int: b < c"}
_GRID = {"input": "b c h w", "target": "int: b h w < c"}
_PROBABILITIES = {"input": "b c", "target": "b c"}

THEOREMS = [
    Theorem(name, call | {"reduction": reduction})
    for name in ("nll_loss", "cross_entropy")
    for call in (_INDICES, _GRID, _INDICES | {"weight": "c"}, _INDICES | {"ignore_index": 0})
    for reduction in _REDUCTIONS
]
THEOREMS += [
    Theorem("nll_loss", {"input": "c", "target": "int: < c"}, "a single sample"),
    Theorem("cross_entropy", {"input": "c", "target": "int: < c"}, "a single sample"),
    Theorem("cross_entropy", _GRID | {"weight": "c", "ignore_index": 0}),
]
THEOREMS += [
    Theorem("cross_entropy", call | {"label_smoothing": 0.1, "reduction": reduction})
    for call in (_INDICES, _INDICES | {"weight": "c"}, _INDICES | {"ignore_index": 0}, _PROBABILITIES)
    for reduction in _REDUCTIONS
]
THEOREMS += [Theorem("cross_entropy", _PROBABILITIES | {"reduction": reduction}) for reduction in _REDUCTIONS]
THEOREMS += [
    Theorem("cross_entropy", _PROBABILITIES | {"weight": "c"}),
    Theorem("cross_entropy", {"input": "b c h w", "target": "b c h w"}),
    Theorem("cross_entropy", {"input": "c", "target": "c"}, "a single sample"),
]
