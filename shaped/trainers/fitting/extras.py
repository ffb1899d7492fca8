"""The packages that `fit` uses only where it is asked for what they do."""

from __future__ import annotations

from importlib import import_module


def require_extra(module: str, purpose: str, package: str = "") -> None:
    """Import a module of an optional package, or say how to get it.

    Raises:
        ImportError: it is not installed.

    >>> require_extra("no_such_module", "a hologram of the loss")
    Traceback (most recent call last):
    ImportError: a hologram of the loss needs no_such_module, which is not installed: pip install 'shaped[fit]'
    """
    try:
        import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {package or module}, which is not installed: pip install 'shaped[fit]'"
        ) from error
