"""Arithmetic of two tensors, broadcast in every way: equal sizes, a missing axis, an axis of size 1 on either side."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_SHAPES = [("n m", "n m"), ("n m", "m"), ("n", "b n"), ("n 1", "n m"), ("1 m", "n 1"), ("n", "")]
_OPERATORS = ["add", "sub", "rsub", "mul", "div", "true_divide"]

THEOREMS = [Theorem(name, {"input": x, "other": y}) for name in _OPERATORS for x, y in _SHAPES]
THEOREMS += [
    Theorem("add", {"input": "n m", "other": "m", "alpha": 3}),
    Theorem("sub", {"input": "n m", "other": "m", "alpha": 3}),
    Theorem("mul", {"input": "n m", "other": 2}, "by a number"),
    Theorem("div", {"input": "n m", "other": "m", "rounding_mode": "floor"}),
    Theorem("div", {"input": "n m", "other": "m", "rounding_mode": "trunc"}),
    Theorem("remainder", {"input": "n m", "other": "m"}),
    Theorem("fmod", {"input": "n m", "other": "m"}),
    Theorem("add", {"input": "complex: n m", "other": "complex: m"}),
    Theorem("sub", {"input": "complex: n m", "other": "complex: m"}),
    Theorem("mul", {"input": "complex: n m", "other": "complex: m"}),
    Theorem("mul", {"input": "n m", "other": "complex: n m"}, "the gradient of a real operand is real"),
    Theorem("div", {"input": "complex: n", "other": "complex: n"}),
]
THEOREMS += [
    Theorem("pow", {"input": "n m", "exponent": exponent}) for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5)
]
THEOREMS += [
    Theorem("pow", {"input": "n m", "exponent": "m"}),
    Theorem("pow", {"input": 2.0, "exponent": "m"}),
    Theorem("float_power", {"input": "n", "exponent": 2}),
]
