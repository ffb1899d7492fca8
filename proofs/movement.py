"""Axes in another order, added, dropped, turned round."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("permute", {"input": "b t d", "dims": (2, 0, 1)}),
    Theorem("transpose", {"input": "b t d", "dim0": 0, "dim1": -1}),
    Theorem("t", {"input": "n m"}),
    Theorem("Tensor.T", {"input": "n m"}),
    Theorem("Tensor.mT", {"input": "b n m"}),
    Theorem("movedim", {"input": "b t d", "source": (0, 1), "destination": (2, 0)}),
    Theorem("unsqueeze", {"input": "b t", "dim": 1}),
    Theorem("squeeze", {"input": "b 1 t", "dim": 1}),
    Theorem("flip", {"input": "b t d", "dims": (0, 2)}),
    Theorem("fliplr", {"input": "n m"}),
    Theorem("flipud", {"input": "n m"}),
    Theorem("roll", {"input": "n m", "shifts": 1, "dims": 0}),
    Theorem("roll", {"input": "n m", "shifts": -1, "dims": 1}),
    Theorem("rot90", {"input": "n m", "k": 1}),
    Theorem("rot90", {"input": "n m b", "k": -1, "dims": (2, 0)}),
]
