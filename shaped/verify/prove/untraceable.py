"""Programs that do not run on symbolic inputs: why, and on which line."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

import shaped
from shaped.errors import Fault
from shaped.spec.tensor import NotExpressible


@dataclass
class Untraceable(Exception):
    """A program that does not run on symbolic inputs.

    Args:
        reason: the construct, in one clause.
        place: `file:line` of the program, empty if unknown.
        part: "forward" or "backward".
        is_wrong: torch would raise as well.
    """

    reason: str
    place: str = ""
    part: str = "forward"
    is_wrong: bool = False


@contextmanager
def explained(part: str) -> Iterator[None]:
    """Errors as `Untraceable`, with the line of the program."""
    try:
        yield
    except Untraceable:
        raise
    except NotExpressible as error:
        raise Untraceable(str(error), place_of(error), part) from error
    except Fault as error:
        raise Untraceable(str(error), place_of(error), part, is_wrong=True) from error
    except Exception as error:  # whatever the program, or torch, raises for symbols
        place = place_of(error)
        text = str(error).strip().partition("\n")[0]
        raise Untraceable(f"{type(error).__name__}: {text}", place, part) from error


_LIBRARIES = tuple(
    str(Path(file).resolve().parent) for file in (shaped.__file__, torch.__file__, sysconfig.__file__, inspect.__file__)
)


def place_of(error: BaseException) -> str:
    """`file:line` of the last line of the program that led to an error; empty if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = str(Path(frame.filename).resolve())
        if not frame.filename.startswith("<") and not file.startswith(_LIBRARIES):
            return f"{frame.filename}:{frame.lineno}"
    return ""
