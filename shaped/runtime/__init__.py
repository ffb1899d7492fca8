"""The run-time side: checked calls, typed lists of tensors, compiled steps, devices, checkpoints, data.

The names here are loaded when they are first used: checked calls need none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.runtime.checkpoint import CheckpointError as CheckpointError
    from shaped.runtime.compiled import CannotCompile as CannotCompile
    from shaped.runtime.compiled import CompiledForward as CompiledForward
    from shaped.runtime.compiled import CompiledStep as CompiledStep
    from shaped.runtime.compiled import compile_forward as compile_forward
    from shaped.runtime.compiled import compile_step as compile_step
    from shaped.runtime.devices import Stopwatch as Stopwatch
    from shaped.runtime.devices import available_devices as available_devices
    from shaped.runtime.devices import find_device as find_device
    from shaped.runtime.devices import require_device as require_device
    from shaped.runtime.devices import synchronize as synchronize
    from shaped.runtime.devices import timed as timed
    from shaped.runtime.exported import ExportedError as ExportedError
    from shaped.runtime.exported import ExportError as ExportError
    from shaped.runtime.exported import export as export
    from shaped.runtime.exported import load_exported as load_exported
    from shaped.runtime.optimized import require_optimized as require_optimized
    from shaped.runtime.optimizer_state import load_optimizer_state as load_optimizer_state
    from shaped.runtime.weights import WeightsError as WeightsError
    from shaped.runtime.weights import load_weights as load_weights
    from shaped.runtime.weights import read_weights as read_weights
    from shaped.runtime.weights import save_weights as save_weights

_HOMES = {
    "CannotCompile": "shaped.runtime.compiled",
    "CheckpointError": "shaped.runtime.checkpoint",
    "CompiledForward": "shaped.runtime.compiled",
    "CompiledStep": "shaped.runtime.compiled",
    "ExportError": "shaped.runtime.exported",
    "ExportedError": "shaped.runtime.exported",
    "Stopwatch": "shaped.runtime.devices",
    "WeightsError": "shaped.runtime.weights",
    "available_devices": "shaped.runtime.devices",
    "compile_forward": "shaped.runtime.compiled",
    "compile_step": "shaped.runtime.compiled",
    "export": "shaped.runtime.exported",
    "find_device": "shaped.runtime.devices",
    "load_exported": "shaped.runtime.exported",
    "load_optimizer_state": "shaped.runtime.optimizer_state",
    "load_weights": "shaped.runtime.weights",
    "read_weights": "shaped.runtime.weights",
    "require_device": "shaped.runtime.devices",
    "require_optimized": "shaped.runtime.optimized",
    "save_weights": "shaped.runtime.weights",
    "synchronize": "shaped.runtime.devices",
    "timed": "shaped.runtime.devices",
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
