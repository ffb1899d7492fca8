"""What a program comes to before it is text: steps that read views and write views, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from shaped.runtime.compiled.c.layout import View, conflict


@dataclass(eq=False)
class Elementwise:
    """One operation that computes each element from the elements at its place.

    Args:
        comment: the operation, for readers of the C.
        name: the name of its value in C.
        target: where its elements go.
        operands: what it reads, each of the target's shape.
        expression: an element, in C; `$0` stands for that of the first operand.
    """

    comment: str
    name: str
    target: View
    operands: tuple[View, ...]
    expression: str

    def written(self, values: list[str]) -> str:
        """The expression with the names of the operands' elements."""
        return re.sub(r"\$(\d+)", lambda found: values[int(found[1])], self.expression)


@dataclass(eq=False)
class Loop:
    """Elementwise operations in one loop over one shape, without dims of size 1.

    A value that a later operation of the loop reads at the same place stays in a register. So an access to an element
    that the loop writes must be an access at the same place, in every step: `accepts` says which operations can join.
    """

    shape: tuple[int, ...]
    steps: list[Elementwise] = field(default_factory=list)

    @property
    def reads(self) -> list[View]:
        """What is read, in the order of the operations."""
        return list(dict.fromkeys(view for step in self.steps for view in step.operands))

    @property
    def writes(self) -> list[View]:
        """What is written, in the order of the operations."""
        return list(dict.fromkeys(step.target for step in self.steps))

    def accepts(self, step: Elementwise) -> bool:
        """Whether the operation may be the next of this loop."""
        if step.target.shape != self.shape:
            return False
        touched = (*step.operands, step.target)
        return not any(
            conflict(one, other) and one != other
            for ours, theirs in ((self.writes, touched), (self.reads, [step.target]))
            for one in ours
            for other in theirs
        )


@dataclass(eq=False)
class Check:
    """A condition on what a kernel reads, so that it reads and writes nowhere else.

    Args:
        index: the numbers that are looked at.
        lines: its C; `return FAULT;` where it is not met.
        message: what the caller is told then.
    """

    index: View
    lines: list[str]
    message: str


@dataclass(eq=False)
class Kernel:
    """An operation with loops of its own.

    Args:
        comment: the operation, for readers of the C.
        reads: the views that it reads.
        writes: the views that it writes.
        lines: its C.
        scratch: how many bytes it needs while it runs, in C at `scratch`.
        work: about how many multiplications it does.
        check: what must hold before.
        elsewhere: makes the same kernel for operands and results that lie elsewhere, where it can.
        right: what it reads as the right side of a product of matrices.
    """

    comment: str
    reads: list[View]
    writes: list[View]
    lines: list[str]
    scratch: int = 0
    work: int = 0
    check: Check | None = None
    elsewhere: Callable[[Callable[[View], View]], Kernel] | None = None
    right: View | None = None


Step: TypeAlias = Loop | Kernel


def add_elementwise(steps: list[Step], step: Elementwise) -> None:
    """Put an operation into the last loop that it can join, or into a new one at the end.

    It moves before a step only if neither reads or writes what the other writes.
    """
    touched = (*step.operands, step.target)
    for earlier in reversed(steps):
        if isinstance(earlier, Loop) and earlier.accepts(step):
            earlier.steps.append(step)
            return
        if _in_conflict(earlier.writes, touched) or _in_conflict(earlier.reads, [step.target]):
            break
    steps.append(Loop(step.target.shape, [step]))


def _in_conflict(some: Iterable[View], others: Iterable[View]) -> bool:
    others = list(others)
    return any(conflict(one, other) for one in some for other in others)
