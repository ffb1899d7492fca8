"""Reading and adding at places that integer tensors say."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

THEOREMS = [
    Theorem("gather", {"input": "n m", "dim": 1, "index": "int: n k < m"}),
    Theorem("gather", {"input": "n m", "dim": 0, "index": "int: k m < n"}),
    Theorem("gather", {"input": "b n m", "dim": 2, "index": "int: b n 1 < m"}),
    Theorem("index_select", {"input": "n m", "dim": 0, "index": "int: k < n"}),
    Theorem("index_select", {"input": "n m", "dim": 1, "index": "int: k < m"}),
    Theorem("scatter_add", {"input": "n m", "dim": 0, "index": "int: k m < n", "src": "k m"}),
    Theorem("scatter_add", {"input": "n m", "dim": 1, "index": "int: n k < m", "src": "n k"}),
    Theorem("index_add", {"input": "n m", "dim": 0, "index": "int: k < n", "source": "k m"}),
    Theorem("index_add", {"input": "n m", "dim": 1, "index": "int: k < m", "source": "n k", "alpha": 2}),
]
