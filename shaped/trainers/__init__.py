"""Trainers: one scalar loss, its parameters and inputs as typed lists, and loops over data.

The names here are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.trainers.fitting.early_stop import EarlyStop as EarlyStop
    from shaped.trainers.fitting.history import Epoch as Epoch
    from shaped.trainers.fitting.history import History as History
    from shaped.trainers.fitting.loop import fit as fit
    from shaped.trainers.fitting.objective import accuracy as accuracy
    from shaped.trainers.fitting.objective import supervised as supervised
    from shaped.trainers.fitting.passes import NotFiniteError as NotFiniteError

_HOMES = {
    "EarlyStop": "shaped.trainers.fitting.early_stop",
    "Epoch": "shaped.trainers.fitting.history",
    "History": "shaped.trainers.fitting.history",
    "NotFiniteError": "shaped.trainers.fitting.passes",
    "accuracy": "shaped.trainers.fitting.objective",
    "fit": "shaped.trainers.fitting.loop",
    "supervised": "shaped.trainers.fitting.objective",
}

__all__ = sorted(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
