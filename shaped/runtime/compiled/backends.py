"""The ways to run a program, by name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Protocol, cast

import torch

from shaped.runtime.compiled.program import CannotCompile, Program, Run

# From the name to the module. A backend is imported when it is first asked for.
BACKENDS = {
    "python": "shaped.runtime.compiled.straight_line",
    "script": "shaped.runtime.compiled.script",
    "c": "shaped.runtime.compiled.c",
    "aot_inductor": "shaped.runtime.compiled.aot_inductor",
    "torch.compile": "shaped.runtime.compiled.torch_compile",
    "cuda_graph": "shaped.runtime.compiled.cuda_graph",
}
EAGER = "eager"
# Those that are built in a second or so, and so are tried without being asked for.
_QUICK = ("script", "python", "c")


class Backend(Protocol):
    """What a backend's module has."""

    name: str
    exact: bool
    """Whether it runs the kernels of eager in their order, so that its numbers are the same to the bit."""

    def unavailable(self, program: Program) -> str | None:
        """Why it cannot run a program here; None if it can."""

    def build(self, program: Program) -> Run:
        """What runs a program.

        Raises:
            CannotCompile: it cannot, as was seen only now.
        """


def backend(name: str) -> Backend:
    """The backend of a name.

    Raises:
        ValueError: there is none.
    """
    if name not in BACKENDS:
        raise ValueError(
            f"there is no backend {name!r}: write 'auto', 'eager', or one or several of {', '.join(BACKENDS)}"
        )
    return cast("Backend", importlib.import_module(BACKENDS[name]))


def wanted(asked: str | Sequence[str], device: torch.device) -> tuple[str, ...]:
    """The names of the backends to try.

    Args:
        asked: "auto", a name, or several names.
        device: where the program runs.
    """
    if asked == "auto":
        return ("cuda_graph", *_QUICK[:2]) if device.type == "cuda" else _QUICK
    names = (asked,) if isinstance(asked, str) else tuple(asked)
    for name in names:
        if name != EAGER:
            backend(name)
    return names


__all__ = ["BACKENDS", "EAGER", "Backend", "CannotCompile", "backend", "wanted"]
