"""Other inputs at which the float64 shadow takes other branches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ORDINARY = (1.0, 3.0, 0.1, 30.0)
# Where guards act that ordinary inputs never meet: thresholds of softplus, eps of norms, the range of exp.
_EXTREME = (1e-3, 1e3, 1e-6, 1e-13)


@dataclass(frozen=True)
class Sample:
    """Inputs of a reading.

    Args:
        inputs: floating tensors.
        size: how much greater they are than the first, or than normal ones.
        ordinary: whether programs meet such sizes.
        where: what is special about them, in words; empty for the size.
    """

    inputs: list[Tensor]
    size: float
    ordinary: bool
    where: str = ""


def samples(inputs: Sequence[Tensor], generator: torch.Generator) -> Iterator[Sample]:
    """The inputs, then others: first of equal signs and at most as great, which stay in most domains, then any.

    Args:
        inputs: floating tensors.
        generator: draws the others.
    """
    yield Sample([one.detach() for one in inputs], 1.0, True)

    def smaller(one: Tensor) -> Tensor:
        return (one.detach() * (0.4 + 0.6 * torch.rand(one.shape, generator=generator, dtype=torch.float64))).to(
            one.dtype
        )

    yield Sample([smaller(one) for one in inputs], 1.0, True)
    for size in _ORDINARY + _EXTREME:
        ordinary = size in _ORDINARY
        yield Sample([normal_like(one, generator, size) for one in inputs], size, ordinary)
        yield Sample([smaller(one) * size for one in inputs], size, ordinary)


def normal_like(like: Tensor, generator: torch.Generator, size: float = 1.0) -> Tensor:
    """A normally distributed tensor of the same shape and type."""
    return (size * torch.randn(like.shape, generator=generator, dtype=torch.float64)).to(like.dtype)
