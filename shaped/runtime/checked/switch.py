"""Whether checked calls are checked: for the whole program, by the environment, by jaxtyping's own switch."""

from __future__ import annotations

import os
from typing import Any

import jaxtyping


class Switch:
    """Read at each call of a checked function, and before a fault is raised.

    `off` is all that generated code asks on the passing path.
    """

    __slots__ = ("off",)

    def __init__(self) -> None:
        self.off = False


SWITCH = Switch()


def set_checking(enabled: bool) -> None:
    """Check the calls of all checked functions, or none of them.

    >>> set_checking(False)
    >>> is_checking()
    False
    >>> set_checking(True)
    """
    SWITCH.off = not enabled


def is_checking() -> bool:
    """Whether calls of checked functions are checked: `set_checking`, and jaxtyping's `JAXTYPING_DISABLE`."""
    return not SWITCH.off and not jaxtyping.config.jaxtyping_disable


def is_left_out() -> bool:
    """Whether `SHAPED_CHECKED=0` keeps functions as they are when they are decorated."""
    return os.environ.get("SHAPED_CHECKED", "1").strip().lower() in ("0", "false", "off", "no")


def is_exempt(*functions: Any) -> bool:
    """Whether `typing.no_type_check` was applied to one of these, before or after decoration."""
    return any(getattr(function, "__no_type_check__", False) for function in functions)
