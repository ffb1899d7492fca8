"""Property tests and gradient tests from the annotations that are already there.

The names are loaded when they are first used, so that the pytest plugin costs nothing in a run that uses none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.testing.drawn_sizes import sizes as sizes
    from shaped.testing.drawn_tensors import tensors as tensors
    from shaped.testing.from_annotations import from_annotation as from_annotation
    from shaped.testing.from_annotations import from_signature as from_signature
    from shaped.testing.given import given_shapes as given_shapes
    from shaped.testing.gradient import check_gradient as check_gradient
    from shaped.testing.wanted import Wanted as Wanted
    from shaped.testing.wanted import entries as entries
    from shaped.testing.wanted import indices as indices

_HOMES = {
    "Wanted": "shaped.testing.wanted",
    "check_gradient": "shaped.testing.gradient",
    "entries": "shaped.testing.wanted",
    "from_annotation": "shaped.testing.from_annotations",
    "from_signature": "shaped.testing.from_annotations",
    "given_shapes": "shaped.testing.given",
    "indices": "shaped.testing.wanted",
    "sizes": "shaped.testing.drawn_sizes",
    "tensors": "shaped.testing.drawn_tensors",
}
_EXTRAS = {"hypothesis": "test", "pytest": "test", "torch": "torch"}

__all__ = [
    "Wanted",
    "check_gradient",
    "entries",
    "from_annotation",
    "from_signature",
    "given_shapes",
    "indices",
    "sizes",
    "tensors",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value: object = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        message = f"shaped.testing.{name} needs {missing}: pip install 'shaped[{_EXTRAS[missing]}]'"
        raise ModuleNotFoundError(message, name=missing) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
