"""Choices, cuts, interpolations, fused products, and filling under a mask."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("where", {"condition": "bool: n m", "input": "n m", "other": "m"}),
    Theorem("where", {"condition": "bool: m", "input": "n 1", "other": "n m"}),
    Theorem("where", {"condition": "bool: n", "input": "n", "other": 0.0}),
    Theorem("Tensor.where", {"input": "n m", "condition": "bool: n 1", "other": "m"}),
    Theorem("clamp", {"input": "n", "min": 0.0, "max": 1.0}),
    Theorem("clamp", {"input": "n", "min": 0.0}),
    Theorem("clamp", {"input": "n", "max": 1.0}),
    Theorem("clamp", {"input": "n m", "min": "m", "max": "n 1"}),
    Theorem("clamp_min", {"input": "n m", "min": 0.0}),
    Theorem("clamp_min", {"input": "n m", "min": "m"}),
    Theorem("clamp_max", {"input": "n m", "max": 1.0}),
    Theorem("clamp_max", {"input": "n m", "max": "m"}),
    Theorem("lerp", {"input": "n m", "end": "m", "weight": 0.25}),
    Theorem("lerp", {"input": "n m", "end": "m", "weight": "n 1"}),
    Theorem("addcmul", {"input": "n m", "tensor1": "m", "tensor2": "n 1", "value": 0.5}),
    Theorem("addcdiv", {"input": "n m", "tensor1": "m", "tensor2": "n 1", "value": 0.5}),
    Theorem("masked_fill", {"input": "n m", "mask": "bool: m", "value": 2.5}),
    Theorem("masked_fill", {"input": "n m", "mask": "bool: n m", "value": ""}, "filled with a tensor without axes"),
    Theorem("masked_fill", {"input": "n m", "mask": "bool: n m", "value": float("-inf")}),
    Theorem("fill", {"input": "n m", "value": ""}),
]
