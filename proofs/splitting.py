"""Parts along an axis: the backward puts them back."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

h, n = map(Dim.name, "hn")

THEOREMS = [
    Theorem("narrow", {"input": "b n", "dim": 1, "start": 1, "length": n - 1}),
    Theorem("narrow", {"input": "b h*3", "dim": 1, "start": h, "length": h}),
    Theorem("select", {"input": "b n d", "dim": 1, "index": 0}),
    Theorem("select", {"input": "b n d", "dim": 1, "index": -1}),
    Theorem("chunk", {"input": "b 4*h", "chunks": 4, "dim": 1}),
    Theorem("chunk", {"input": "7 b", "chunks": 3}),
    Theorem("split", {"tensor": "b 3*h", "split_size_or_sections": h, "dim": 1}),
    Theorem("split", {"tensor": "b 3*h", "split_size_or_sections": (h, 2 * h), "dim": -1}),
    Theorem("split_with_sizes", {"input": "b 3*h", "split_sizes": (h, 2 * h), "dim": 1}),
    Theorem("tensor_split", {"input": "b 7", "indices_or_sections": 3, "dim": 1}),
    Theorem("tensor_split", {"input": "b 3*h", "indices_or_sections": (h, 2 * h), "dim": 1}),
    Theorem("unbind", {"input": "b 3 d", "dim": 1}),
    Theorem("unfold", {"input": "b n", "dimension": 1, "size": 3, "step": 2}),
    Theorem("unfold", {"input": "b n", "dimension": 1, "size": Dim.name("k"), "step": 1}),
]
