"""Shape errors in ordinary PyTorch code, found before anything runs.

The names here are loaded when they are first used: importing `shaped` imports neither torch nor the checker.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.reveal import reveal_shape as reveal_shape
    from shaped.runtime.checked.decorator import checked as checked
    from shaped.runtime.checked.import_hook import install_import_hook as install_import_hook
    from shaped.runtime.checked.switch import set_checking as set_checking
    from shaped.runtime.custom_grad import custom_grad as custom_grad
    from shaped.runtime.tlist import TList as TList
    from shaped.static.check import Checker as Checker
    from shaped.static.report import Diagnostic as Diagnostic
    from shaped.static.report import Report as Report

_HOMES = {
    "Checker": "shaped.static.check",
    "Diagnostic": "shaped.static.report",
    "Report": "shaped.static.report",
    "TList": "shaped.runtime.tlist",
    "checked": "shaped.runtime.checked.decorator",
    "custom_grad": "shaped.runtime.custom_grad.decorator",
    "install_import_hook": "shaped.runtime.checked.import_hook",
    "reveal_shape": "shaped.reveal",
    "set_checking": "shaped.runtime.checked.switch",
}

__version__ = "0.1.0"
__all__ = [
    "Checker",
    "Diagnostic",
    "Report",
    "TList",
    "checked",
    "custom_grad",
    "install_import_hook",
    "reveal_shape",
    "set_checking",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
