"""What calls give: kept as it was, and compared."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import torch
from torch import Tensor

# float32 in another order of summation errs by some 1e-6 of the greatest entry in these small programs.
_NOISE = 1e-4
_DEEPEST = 6


class Difference(Enum):
    """How two results differ."""

    SHAPE = auto()  # or in kind: a dtype, a number of elements
    VALUE = auto()


def snapshot(value: Any, depth: int = 0) -> Any:
    """The tensors and plain values in a result as nested tuples, whatever is done with it later.

    >>> snapshot([True, (2, "a")])
    (True, (2, 'a'))
    """
    if isinstance(value, Tensor):
        plain = value.detach()
        plain = plain.to_dense() if plain.layout is not torch.strided else plain
        return plain.as_subclass(Tensor).clone()
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype)):
        return value
    if depth == _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return tuple((str(key), snapshot(one, depth + 1)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(snapshot(one, depth + 1) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(snapshot(getattr(value, one.name, None), depth + 1) for one in dataclasses.fields(value))
    return None  # of anything else nothing is compared


def difference(one: Any, other: Any) -> Difference | None:
    """How a snapshot differs from another, shapes before values; None where they are the same.

    >>> difference(snapshot(torch.zeros(2)), snapshot(torch.zeros(2, 1)))
    <Difference.SHAPE: 1>
    """
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape != other.shape or one.dtype != other.dtype:
            return Difference.SHAPE
        return None if _close(one, other) else Difference.VALUE
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            return Difference.SHAPE
        found = {difference(first, second) for first, second in zip(one, other)}
        return next((kind for kind in Difference if kind in found), None)
    if isinstance(one, float) and isinstance(other, float):
        same = math.isclose(one, other, rel_tol=_NOISE, abs_tol=_NOISE) or (math.isnan(one) and math.isnan(other))
        return None if same else Difference.VALUE
    if type(one) is not type(other):
        return Difference.SHAPE
    return None if one == other else Difference.VALUE


def _close(one: Tensor, other: Tensor) -> bool:
    if not one.is_floating_point() and not one.is_complex():
        return bool((one == other).all())
    finite = torch.isfinite(one)
    if bool((finite != torch.isfinite(other)).any()):
        return False
    if not bool(finite.any()):
        return torch.equal(one.nan_to_num(), other.nan_to_num())
    greatest = float(one[finite].abs().max())
    return float((one[finite] - other[finite]).abs().max()) <= _NOISE * max(greatest, 1e-6)
