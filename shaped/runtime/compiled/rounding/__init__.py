"""The error budget of a program: how far any sound kernels of its operations may be from its values.

For backends that do not run torch's own kernels in torch's own order. `evaluate` computes a program in 64 bits with a
bound on each entry, `compare` holds a result to it; there is no tolerance to choose. `docs/error-budget.md` has the
notion, and `shaped.verify.budget` the same for one function at 128 bits.
"""

from __future__ import annotations

from shaped.runtime.compiled.rounding.bounded import Bounded
from shaped.runtime.compiled.rounding.comparison import Budget, compare
from shaped.runtime.compiled.rounding.evaluation import Evaluated, NotBounded, evaluate

__all__ = ["Bounded", "Budget", "Evaluated", "NotBounded", "compare", "evaluate"]
