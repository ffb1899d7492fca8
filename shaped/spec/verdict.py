"""The answers to questions about sizes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shaped.spec.facts import Facts


class Status(enum.Enum):
    """How an equation stands; `shaped.spec.facts` says what each means."""

    PROVED = "proved"
    NEVER = "never"
    SOMETIMES = "sometimes"
    ASSUMABLE = "assumable"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """The answer to an equation or an inequality.

    `sizes` are values of named sizes for which it fails (SOMETIMES); `assumption` is what has to hold, in the user's
    names (`d % h == 0`), and `learned` the facts with it (ASSUMABLE).
    """

    status: Status
    sizes: Mapping[str, int] = field(default_factory=dict)
    assumption: str = ""
    learned: Facts | None = None


PROVED = Verdict(Status.PROVED)
NEVER = Verdict(Status.NEVER)
OPEN = Verdict(Status.OPEN)
