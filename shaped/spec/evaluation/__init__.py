"""Values of index expressions, for chosen sizes and tensors, in any number system of `spec.scalars`.

This is the second, independent reader of the expressions: it shares nothing with the normal forms of `spec.canonical`,
so that what those prove can be checked here.
"""

from __future__ import annotations

from shaped.spec.evaluation.agreement import Agreement, Disagreement, check_equal
from shaped.spec.evaluation.evaluate import Evaluated, Evaluation, evaluate, evaluate_where_defined

__all__ = [
    "Agreement",
    "Disagreement",
    "Evaluated",
    "Evaluation",
    "check_equal",
    "evaluate",
    "evaluate_where_defined",
]
