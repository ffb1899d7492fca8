"""Elements that are the same memory, so that writing one changes the other: of one tensor, or of two parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from shaped.init.places import Slot


def overlaps_itself(tensor: torch.Tensor) -> bool:
    """Whether two elements of a tensor are the same memory.

    >>> overlaps_itself(torch.zeros(1).expand(3)), overlaps_itself(torch.zeros(2, 3).T)
    (True, False)
    """
    if not tensor.numel():
        return False
    reach = 0
    is_nested = True
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1:
            is_nested &= stride > reach
            reach += (size - 1) * stride
    if is_nested:  # along each axis, a step leads past all that the finer axes reach
        return False
    marks = torch.zeros(reach + 1, dtype=torch.bool, device="cpu")
    marks.as_strided(tensor.shape, tensor.stride()).fill_(True)
    return int(marks.sum()) < tensor.numel()


def shared_elements(found: Iterable[Slot]) -> list[str]:
    """A sentence for each two parameters of which some elements are the same memory.

    Parameters that are the same elements in the same order are tied, which `slots` has seen to. Disjoint pieces of one
    memory, as the weights of a recurrent layer on a GPU are, share nothing.
    """
    by_device: dict[torch.device, list[_Piece]] = {}
    for slot in found:
        for parameter in slot.parameters:
            if parameter.numel():
                by_device.setdefault(parameter.device, []).append(_Piece.of(slot.place.name, parameter))
    return [
        f"{one.name} and {other.name} share memory in part: give one of them Keep(), or make it a copy"
        for pieces in by_device.values()
        for one, other in _meeting(pieces)
        if one.overlaps(other)
    ]


@dataclass(frozen=True, eq=False)
class _Piece:
    """A parameter and the bytes from its first element to the end of its last."""

    name: str
    parameter: nn.Parameter
    start: int
    stop: int

    @staticmethod
    def of(name: str, parameter: nn.Parameter) -> _Piece:
        last = sum((size - 1) * stride for size, stride in zip(parameter.shape, parameter.stride()))
        start = parameter.data_ptr()
        return _Piece(name, parameter, start, start + (last + 1) * parameter.element_size())

    def overlaps(self, other: _Piece) -> bool:
        """Whether two pieces whose bytes meet have an element in common; those of two dtypes are taken to have one."""
        if self.parameter.dtype != other.parameter.dtype:
            return True
        size = self.parameter.element_size()
        first = min(self.start, other.start)
        marks = torch.zeros((max(self.stop, other.stop) - first) // size, dtype=torch.bool)
        self._in(marks, first).fill_(True)
        return bool(other._in(marks, first).any())

    def _in(self, marks: torch.Tensor, first: int) -> torch.Tensor:
        offset = (self.start - first) // self.parameter.element_size()
        return marks.as_strided(self.parameter.shape, self.parameter.stride(), offset)


def _meeting(pieces: list[_Piece]) -> Iterator[tuple[_Piece, _Piece]]:
    """The pairs whose bytes meet: in order of their starts, each with those before it that have not ended."""
    running: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        running = [before for before in running if before.stop > piece.start]
        yield from ((before, piece) for before in running)
        running.append(piece)
