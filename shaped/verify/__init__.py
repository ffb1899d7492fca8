"""Whether a gradient is right: proofs for every size, exact checks, enclosures, error budgets, hazards of floats.

`gradient` asks all of them; each can be asked alone.
"""

from __future__ import annotations

from shaped.verify.budget import within_budget
from shaped.verify.exact import exact_gradcheck
from shaped.verify.gradient import gradient
from shaped.verify.hazards import float_hazards
from shaped.verify.prove import prove
from shaped.verify.verdict import Level, Verdict, Witness

__all__ = [
    "Level",
    "Verdict",
    "Witness",
    "exact_gradcheck",
    "float_hazards",
    "gradient",
    "prove",
    "within_budget",
]
