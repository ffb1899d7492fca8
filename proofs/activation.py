"""Activations, entry by entry, with torch's derivative at each kink."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_ACTIVATIONS = """
    relu relu6 elu selu celu silu mish softplus softsign tanhshrink hardtanh hardswish hardsigmoid hardshrink
    softshrink leaky_relu logsigmoid threshold
"""

THEOREMS = [Theorem(name, {"input": "n m"}) for name in _ACTIVATIONS.split()]
THEOREMS += [
    Theorem("gelu", {"input": "n m"}, "by the error function"),
    Theorem("gelu", {"input": "n m", "approximate": "tanh"}),
    Theorem("softplus", {"input": "n", "beta": 2.0, "threshold": 5.0}),
    Theorem("elu", {"input": "n", "alpha": 2.0}),
    Theorem("celu", {"input": "n", "alpha": 2.0}),
    Theorem("leaky_relu", {"input": "n", "negative_slope": 0.25}),
    Theorem("hardtanh", {"input": "n", "min_val": -2.0, "max_val": 0.5}),
    Theorem("threshold", {"input": "n", "threshold": 1.0, "value": 5.0}),
    Theorem("nn.functional.prelu", {"input": "n c w", "weight": "c"}),
    Theorem("nn.functional.prelu", {"input": "n c w", "weight": "1"}),
    Theorem("nn.functional.glu", {"input": "n 2*m", "dim": -1}),
    Theorem("nn.functional.glu", {"input": "2*n m", "dim": 0}),
    Theorem("dropout", {"input": "n m", "p": 0.5, "training": False}),
]
