"""The run-time side: checked calls, typed lists of tensors, compiled steps, devices, checkpoints, data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.runtime.compiled import CannotCompile as CannotCompile
    from shaped.runtime.compiled import CompiledForward as CompiledForward
    from shaped.runtime.compiled import CompiledStep as CompiledStep
    from shaped.runtime.compiled import compile_forward as compile_forward
    from shaped.runtime.compiled import compile_step as compile_step

_COMPILED = ("CannotCompile", "CompiledForward", "CompiledStep", "compile_forward", "compile_step")


def __getattr__(name: str) -> object:
    """The names of compiled programs, loaded when they are first used: checked calls do not need them."""
    if name not in _COMPILED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module("shaped.runtime.compiled"), name)
    globals()[name] = value
    return value
