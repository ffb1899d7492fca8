"""The autocast that a call is in: the backward runs in that of the forward, and a graph keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Autocast:
    """An autocast that is on.

    Args:
        device: the kind of device that it is for.
        dtype: what it casts to.
    """

    device: str
    dtype: torch.dtype


_NOTHING: AbstractContextManager[None] = nullcontext()


def current(values: Iterable[Any]) -> Autocast | None:
    """The autocast for the device of the first tensor, None if there is none."""
    device = device_of(values)
    if not torch.is_autocast_enabled(device):
        return None
    return Autocast(device, torch.get_autocast_dtype(device))


def device_of(values: Iterable[Any]) -> str:
    """The kind of device of the first tensor."""
    for value in values:
        if isinstance(value, Tensor):
            return value.device.type
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
            return value[0].device.type
    return "cpu"


def is_any() -> bool:
    """Whether an autocast is on, for any device."""
    return torch._C._is_any_autocast_enabled()


def entered(state: Autocast | None) -> AbstractContextManager[Any]:
    """Exactly this autocast."""
    if state is not None:
        # What is cast here has no graph, and must not be found in autocast's cache by code that wants one.
        return torch.autocast(state.device, dtype=state.dtype, cache_enabled=False)
    if not is_any():
        return _NOTHING
    return _Off()


class _Off(AbstractContextManager[None]):
    """No autocast, on any device."""

    def __enter__(self) -> None:
        self._guard = torch._C._DisableAutocast()
        self._guard.__enter__()  # type: ignore[no-untyped-call]  # as torch declares it

    def __exit__(self, *exception: object) -> None:
        self._guard.__exit__(*exception)
