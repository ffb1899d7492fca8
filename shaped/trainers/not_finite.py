"""Losses and gradients that are no numbers to learn from."""

from __future__ import annotations

from collections.abc import Sequence


class NotFiniteError(ArithmeticError):
    """A loss, or the norm of its gradients, that is NaN or infinite."""


class NotFiniteGradientsError(NotFiniteError):
    """Gradients whose norm is NaN or infinite, which no factor makes smaller.

    Args:
        norm: the norm.
        names: the parameters whose own gradients have such elements; empty where only their sum of squares overflows.
    """

    def __init__(self, norm: float, names: Sequence[str]) -> None:
        self.norm = norm
        self.names = tuple(names)
        where = f"in the gradients of {', '.join(names)}" if names else "each gradient is finite, but not their norm"
        super().__init__(
            f"clip_grad_norm: the norm of the gradients is {norm} ({where}), and nothing was clipped: a lower learning "
            "rate? error_if_nonfinite=False gives the norm instead"
        )
