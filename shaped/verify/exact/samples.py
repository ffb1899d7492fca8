"""Other inputs at which the float64 shadow takes other branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Clamps and thresholds in use: 1 (huber), 6 (relu6), 20 (softplus), 1e-5 to 1e-12 (eps of norms), exp's range.
_SCALES = (1.0, 3.0, 0.1, 30.0, 1e-3, 1e3, 1e-6, 1e-13)


def samples(inputs: Sequence[Tensor], generator: torch.Generator) -> Iterator[list[Tensor]]:
    """The inputs, then others: first of equal signs and at most as great, which stay in most domains, then any.

    Args:
        inputs: floating tensors.
        generator: draws the others.
    """
    yield [one.detach() for one in inputs]

    def uniform(one: Tensor) -> Tensor:
        return 0.4 + 0.6 * torch.rand(one.shape, generator=generator, dtype=torch.float64)

    yield [(one.detach() * uniform(one)).to(one.dtype) for one in inputs]
    for scale in _SCALES:
        yield [_normal(one, scale, generator) for one in inputs]
        yield [(one.detach() * uniform(one) * scale).to(one.dtype) for one in inputs]


def _normal(like: Tensor, scale: float, generator: torch.Generator) -> Tensor:
    return (scale * torch.randn(like.shape, generator=generator, dtype=torch.float64)).to(like.dtype)


def normal_like(tensors: Sequence[Tensor], generator: torch.Generator) -> list[Tensor]:
    """Normally distributed tensors of these shapes and types."""
    return [_normal(one, 1.0, generator) for one in tensors]
