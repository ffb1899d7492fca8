"""Gradients that are right over the reals and wrong as computed: NaN, infinity, underflow, effects, second order."""

from shaped.verify.hazards.search import float_hazards
from shaped.verify.refutation import numeric_refutation

__all__ = ["float_hazards", "numeric_refutation"]
