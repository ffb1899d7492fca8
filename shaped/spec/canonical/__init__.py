"""Canonical forms of index expressions: whether two expressions are equal for all sizes and values.

What a comparison says: for all sizes that the dims allow, all places, all integer entries in range, and all finite real
entries at which both sides are defined, they are equal; except on the null sets that it lists as kinks. A division by 0
is no value: it is outside the domain. Nothing is said about floats.

How it is found out: an expression is expanded to a polynomial, with rational coefficients and exponents, in atoms that
are interned (`atoms`, `polynomials`). Rules bring each product of atoms to normal form (`products`): powers of sums and
elementary functions (`powers`), conditions (`indicators`), sums over indices (`sums`, closed by `labels`), products
(`prefix_products`). Two expressions with one form are equal; a difference that is left is tried by the steps of
`equality`. Each rule is an identity wherever its parts are defined. A term under a condition that does not hold counts
0, whatever else it is: its rules may act as if it were defined, since they act alike wherever that term stands.
"""

from __future__ import annotations

from shaped.spec.canonical.assumptions import Assumptions, Undecided, Undefined
from shaped.spec.canonical.boundaries import outside_of_boundaries
from shaped.spec.canonical.domain import Requirement
from shaped.spec.canonical.equality import Comparison, compare
from shaped.spec.canonical.forms import Form, adjoint, canonical, requirements

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
    "outside_of_boundaries",
    "requirements",
]
