"""What each operation does to bounds: one entry of `table.RULES` for each, in a module by topic."""

from __future__ import annotations

from shaped.runtime.compiled.rounding.rules import (
    attention,
    conversions,
    derivatives,
    elementwise,
    losses,
    normalisation,
    pooling,
    products,
    reductions,
    softmax,
)
from shaped.runtime.compiled.rounding.rules.table import MOVEMENTS, RULES

__all__ = [
    "MOVEMENTS",
    "RULES",
    "attention",
    "conversions",
    "derivatives",
    "elementwise",
    "losses",
    "normalisation",
    "pooling",
    "products",
    "reductions",
    "softmax",
]
