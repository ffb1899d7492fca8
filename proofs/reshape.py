"""The same elements as another shape: axes merged and split again."""

from __future__ import annotations

from shaped.spec.dims import Dim
from shaped.verify.theorem import Theorem

b, t, h, d = map(Dim.name, "bthd")

THEOREMS = [
    Theorem("reshape", {"input": "b t d", "shape": (b * t, d)}),
    Theorem("reshape", {"input": "b*t d", "shape": (b, t, -1)}),
    Theorem("reshape", {"input": "b h t d", "shape": (b * h, t * d)}),
    Theorem("reshape", {"input": "2 3", "shape": (3, 2)}, note="places by floor division"),
    Theorem("view", {"input": "b t h*d", "shape": (b, t, h, d)}),
    Theorem("view_as", {"input": "b h*d", "other": "b h d"}),
    Theorem("reshape_as", {"input": "b h d", "other": "b*h d"}),
    Theorem("flatten", {"input": "b t d", "start_dim": 0, "end_dim": 1}),
    Theorem("ravel", {"input": "b t d"}),
    Theorem("unflatten", {"input": "b h*d", "dim": 1, "sizes": (h, -1)}),
]
