"""Weights that depend on the parameter's name and the place in it, not on its shape.

So an embedding of one more row, or a layer made after one that drew more random numbers, is the same where both exist.
"""

from __future__ import annotations

import zlib

import torch
from torch import Tensor, nn

_SCALE = 0.5  # from -1/4 to 1/4: layers of a few units neither vanish nor saturate


def set_weights(module: nn.Module) -> None:
    """Set all floating-point parameters of a module.

    >>> one, other = nn.Embedding(2, 3), nn.Embedding(4, 3)
    >>> set_weights(one), set_weights(other)
    (None, None)
    >>> bool((one.weight == other.weight[:2]).all())
    True
    """
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            lazy = isinstance(parameter, nn.parameter.UninitializedParameter)
            if parameter.is_floating_point() and not lazy:
                parameter.copy_(noise(tuple(parameter.shape), zlib.crc32(name.encode())))


_TABLE = torch.rand(1 << 16, generator=torch.Generator().manual_seed(0)) - 0.5
_STEPS = (40503, 30011, 21013, 12007, 5003, 2003)  # odd, so that places come far apart in the table


def noise(shape: tuple[int, ...], seed: int) -> Tensor:
    """Numbers without a pattern, one for each place."""
    place = torch.full(shape, seed % len(_TABLE), dtype=torch.int32)
    for axis, size in enumerate(shape):
        ramp = torch.arange(1, size + 1, dtype=torch.int32) * _STEPS[axis % len(_STEPS)]
        place += (ramp % len(_TABLE)).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return _SCALE * _TABLE[place % len(_TABLE)]
