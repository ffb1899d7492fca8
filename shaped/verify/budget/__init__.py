"""Whether a result in floats is as near to the true one as rounding explains: no tolerance is chosen."""

from __future__ import annotations

from shaped.verify.budget.budget import Budget, compare, rho
from shaped.verify.budget.enclosure import enclose, error_bound, with_error_bounds
from shaped.verify.budget.kernels import enclosed, enclosed_gradients, gradients_within_budget, within_budget

__all__ = [
    "Budget",
    "compare",
    "enclose",
    "enclosed",
    "enclosed_gradients",
    "error_bound",
    "gradients_within_budget",
    "rho",
    "with_error_bounds",
    "within_budget",
]
