"""What a program comes to before it is text: steps that read views and write views, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from shaped.runtime.compiled.c.layout import Buffer, View, conflict


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
    # What is read and written, by buffer: a loop may have hundreds of steps, each of which asks whether it can join.
    _read: dict[Buffer, dict[View, None]] = field(init=False, default_factory=dict)
    _written: dict[Buffer, dict[View, None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for step in self.steps:
            self._note(step)

    @property
    def reads(self) -> list[View]:
        """What is read."""
        return [view for views in self._read.values() for view in views]

    @property
    def writes(self) -> list[View]:
        """What is written."""
        return [view for views in self._written.values() for view in views]

    def append(self, step: Elementwise) -> None:
        """Do the operation after the others."""
        self.steps.append(step)
        self._note(step)

    def _note(self, step: Elementwise) -> None:
        for view in step.operands:
            self._read.setdefault(view.buffer, {})[view] = None
        self._written.setdefault(step.target.buffer, {})[step.target] = None

    def accepts(self, step: Elementwise) -> bool:
        """Whether the operation may be the next of this loop."""
        if step.target.shape != self.shape:
            return False
        return not any(own != view and conflict(own, view) for own, view in self._meets(step))

    def stands_before(self, step: Elementwise) -> bool:
        """Whether the operation must come after this loop."""
        return any(conflict(own, view) for own, view in self._meets(step))

    def _meets(self, step: Elementwise) -> Iterator[tuple[View, View]]:
        """Views of this loop and of the operation that are of one buffer, where one of them is written."""
        for view in (*step.operands, step.target):
            yield from ((own, view) for own in self._written.get(view.buffer, ()))
        yield from ((own, step.target) for own in self._read.get(step.target.buffer, ()))


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

    def stands_before(self, step: Elementwise) -> bool:
        """Whether the operation must come after this kernel."""
        touched = (*step.operands, step.target)
        return any(conflict(own, view) for own in self.writes for view in touched) or any(
            conflict(own, step.target) for own in self.reads
        )


Step: TypeAlias = Loop | Kernel


def add_elementwise(steps: list[Step], step: Elementwise) -> None:
    """Put an operation into the last loop that it can join, or into a new one at the end.

    It moves before a step only if neither reads or writes what the other writes.
    """
    for earlier in reversed(steps):
        if isinstance(earlier, Loop) and earlier.accepts(step):
            earlier.append(step)
            return
        if earlier.stands_before(step):
            break
    steps.append(Loop(step.target.shape, [step]))
