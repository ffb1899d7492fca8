"""What can be wrong with a program's shapes: one hierarchy, one sentence per fault.

The checker and the run-time checks raise the same errors, so a fault reads the same wherever it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shaped.spec.dims import Dim


@dataclass(frozen=True)
class Origin:
    """Where a size comes from, for the notes below a message.

    `text` names it in the user's words (`out_features of self.fc1`); `line` is where it was written, 0 if unknown;
    `path` is the file when it is not the file of the message.
    """

    text: str
    line: int = 0
    path: str = ""

    def __str__(self) -> str:
        if not self.line:
            return self.text
        place = f"{self.path}, line {self.line}" if self.path else f"line {self.line}"
        return f"{self.text}, {place}"


@dataclass
class Fault(Exception):
    """A fault in a program: `operation: operands: reason`.

    Args:
        operation: the operation as users call it (`matmul`, `cat`).
        reason: why it fails, with the sizes (`inner dimensions 128 and 64 differ`).
        operands: the operands with their shapes (`(b, 128) @ (64, 10)`); may be empty.
        hint: a fix, where one is clear (`nn.Linear(128, 10)?`).
        dims: the sizes at fault; their origins become notes.
        sizes: the smallest sizes of named dims for which it fails, if they are not obvious from the message.
        code: the diagnostic code, `shape` unless the fault has a sub-code.
        place: what it comes from, if not the operation under way: a node of the program, set by who reads the program.

    >>> str(ShapeError("matmul", "inner dimensions 5 and 4 differ", "(3, 5) @ (4, 8)"))
    'matmul: (3, 5) @ (4, 8): inner dimensions 5 and 4 differ'
    """

    operation: str
    reason: str
    operands: str = ""
    hint: str = ""
    dims: tuple[Dim, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    code: str = "shape"
    place: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.hint:
            self.add_note(f"hint: {self.hint}")  # which Python shows below the message

    def __str__(self) -> str:
        return ": ".join(part for part in (self.operation, self.operands, self.reason) if part)


class ShapeError(Fault):
    """torch would raise, or an annotation is not met."""


@dataclass
class DtypeError(Fault):
    """An operation on dtypes that torch refuses, or an annotation's dtype that is not met."""

    code: str = "dtype"


@dataclass
class DeviceError(Fault):
    """An operation on tensors of several devices, or on a device that has no such dtype, which torch refuses."""

    code: str = "device"


@dataclass
class RegistrationError(Fault):
    """Modules or parameters in a plain list, where torch does not see them: nothing trains, moves or saves them."""

    code: str = "unregistered"


class AnnotationError(Fault):
    """An annotation that says nothing: what is wrong with it and how to write it."""
