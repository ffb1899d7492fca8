"""Products of matrices and vectors, over batches that broadcast."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

_PAIRS = [
    ("n k", "k m"),
    ("b n k", "b k m"),
    ("b h n k", "b h k m"),
    ("b n k", "k m"),
    ("n k", "b k m"),
    ("b 1 n k", "h k m"),
    ("k", "k m"),
    ("n k", "k"),
    ("b n k", "k"),
    ("k", "b k m"),
    ("k", "k"),
    ("complex: n k", "complex: k m"),
]
_SCALED = {"alpha": Dim.name("a"), "beta": Dim.name("c")}

THEOREMS = [
    *(Theorem("matmul", {"input": left, "other": right}) for left, right in _PAIRS),
    Theorem("rmatmul", {"input": "k m", "other": "n k"}),
    Theorem("mm", {"input": "n k", "mat2": "k m"}),
    Theorem("bmm", {"input": "b n k", "mat2": "b k m"}),
    Theorem("mv", {"input": "n k", "vec": "k"}),
    Theorem("dot", {"input": "k", "tensor": "k"}),
    Theorem("vdot", {"input": "complex: k", "other": "complex: k"}),
    Theorem("outer", {"input": "n", "vec2": "m"}),
    Theorem("outer", {"input": "complex: n", "vec2": "complex: m"}),
    Theorem("addmm", {"input": "m", "mat1": "n k", "mat2": "k m"}),
    Theorem("addmm", {"input": "n m", "mat1": "n k", "mat2": "k m", **_SCALED}),
    Theorem("addmv", {"input": "n", "mat": "n k", "vec": "k", **_SCALED}),
    Theorem("addr", {"input": "n m", "vec1": "n", "vec2": "m", **_SCALED}),
    Theorem("baddbmm", {"input": "b n m", "batch1": "b n k", "batch2": "b k m", **_SCALED}),
    Theorem("addbmm", {"input": "n m", "batch1": "b n k", "batch2": "b k m", **_SCALED}),
]
