"""Linear and bilinear maps of the last axis."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("linear", {"input": "b d", "weight": "o d", "bias": "o"}),
    Theorem("linear", {"input": "b t d", "weight": "o d", "bias": "o"}),
    Theorem("linear", {"input": "b d", "weight": "o d"}),
    Theorem("linear", {"input": "d", "weight": "o d", "bias": "o"}),
    Theorem("bilinear", {"input1": "b i", "input2": "b j", "weight": "o i j", "bias": "o"}),
    Theorem("bilinear", {"input1": "b t i", "input2": "b t j", "weight": "o i j"}),
]
