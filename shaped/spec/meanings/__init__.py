"""The meanings of the operations, one file a family; importing this declares them all."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import shaped.spec.ops  # noqa: F401  (a meaning belongs to an operation of the table)

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    import_module(f"{__name__}.{_module.name}")
