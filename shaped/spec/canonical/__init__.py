"""Canonical forms of index expressions: whether two expressions are equal for all sizes and values."""

from __future__ import annotations

from shaped.spec.canonical.assumptions import Assumptions, Undecided, Undefined
from shaped.spec.canonical.domain import Requirement
from shaped.spec.canonical.equality import Comparison, Form, adjoint, canonical, compare, requirements

__all__ = [
    "Assumptions",
    "Comparison",
    "Form",
    "Requirement",
    "Undecided",
    "Undefined",
    "adjoint",
    "canonical",
    "compare",
    "requirements",
]
