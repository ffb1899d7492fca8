"""Diagonals and triangles."""

from __future__ import annotations

from shaped.verify.theorem import Theorem

_OFFSETS = (0, 1, -2)

THEOREMS = [
    *(Theorem(name, {"input": "b n m", "diagonal": offset}) for name in ("tril", "triu") for offset in _OFFSETS),
    *(Theorem("diagonal", {"input": "n n b", "offset": offset}) for offset in _OFFSETS),
    *(Theorem("diag_embed", {"input": "b n", "offset": offset}) for offset in _OFFSETS),
    *(Theorem("diag", {"input": "n", "diagonal": offset}) for offset in _OFFSETS),
    *(Theorem("diag", {"input": "n n", "diagonal": offset}) for offset in _OFFSETS),
    Theorem("diagonal", {"input": "n m"}, note="as long as the shorter axis"),
    Theorem("linalg.diagonal", {"A": "b n n"}),
    Theorem("diagflat", {"input": "n m"}),
    Theorem("trace", {"input": "n n"}),
    Theorem("trace", {"input": "n m"}),
]
